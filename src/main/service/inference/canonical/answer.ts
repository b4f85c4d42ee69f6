import type {
  CallPart,
  CanonicalEvent,
  FinishReason,
  RedactedPart,
  TextPart,
  ThinkingPart,
  Usage,
} from './canonical.ts'

/** Completion collected from its events. */
export type CanonicalCompletion = {
  id: string | undefined
  parts: CompletionPart[]
  usage: Usage | undefined
  reason: FinishReason
  /** Stop reason in the provider's notation. */
  native: string | undefined
  stopSequence: string | undefined
}

export type CompletionPart = TextPart | RefusalPart | ThinkingPart | RedactedPart | CallPart
export type RefusalPart = { type: 'refusal'; text: string }

/** @throws InferenceError from an `error` event */
export function collectCompletion(events: Iterable<CanonicalEvent>): CanonicalCompletion {
  const collector = createCompletionCollector()
  for (const event of events) collector.take(event)
  return collector.answer()
}

/** Assembles the parts of a completion from its events. */
export function createCompletionCollector() {
  const parts = new Map<number, CompletionPart>()
  const answer: CanonicalCompletion = {
    id: undefined,
    parts: [],
    usage: undefined,
    reason: 'stop',
    native: undefined,
    stopSequence: undefined,
  }

  function grow(block: number, fresh: CompletionPart & { text: string }): void {
    const part = parts.get(block)
    if (part && 'text' in part) part.text += fresh.text
    else parts.set(block, fresh)
  }

  return {
    /** @throws InferenceError from an `error` event */
    take(event: CanonicalEvent): void {
      switch (event.type) {
        case 'start':
          answer.id = event.id
          break
        case 'text':
        case 'refusal':
        case 'thinking':
          grow(event.block, { type: event.type, text: event.text })
          break
        case 'signature': {
          const part = parts.get(event.block)
          if (part?.type === 'text' || part?.type === 'thinking') part.signature = event.signature
          break
        }
        case 'redacted':
          parts.set(event.block, { type: 'redacted', sealed: event.sealed })
          break
        case 'call':
          parts.set(event.block, {
            type: 'call',
            id: event.id,
            name: event.name,
            arguments: '',
            ...(event.signature && { signature: event.signature }),
          })
          break
        case 'arguments': {
          const part = parts.get(event.block)
          if (part?.type === 'call') part.arguments += event.text
          break
        }
        case 'usage':
          answer.usage = event.usage
          break
        case 'finish':
          answer.reason = event.reason
          answer.native = event.native
          answer.stopSequence = event.stopSequence
          break
        case 'error':
          throw event.error
      }
    },
    answer: (): CanonicalCompletion => ({ ...answer, parts: [...parts.values()] }),
  }
}
