import { createSseParser, type SseEvent } from '#platform/http/sseEvents.ts'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { createCompletionCollector } from '../canonical/answer.ts'
import type { CanonicalEvent } from '../canonical/canonical.ts'
import type { FinishEvent } from '../dialects/dialect.ts'
import type { InferenceError } from '../inferenceError.ts'
import type { TextRun } from '../upstreams/textChunks.ts'
import type { StreamReader } from '../upstreams/upstream.ts'
import { type CompletionLimits, createCompletionMeter } from './completionLimits.ts'
import { createCompletionRules } from './completionRules.ts'

/** Result of one event of an upstream stream. */
export type StreamStep = {
  /** Event as sent by the provider. Undefined for events after the last one. */
  sse: SseEvent | undefined
  /** Set instead of `sse` for a run of events that differ only in their texts. */
  run?: TextRun
  events: readonly CanonicalEvent[]
}

type Options = {
  reader: StreamReader
  limits: CompletionLimits
  now: () => number
  /** Removes the provider's key from its responses. */
  scrubText: (text: string) => string
  restore: (event: CanonicalEvent) => CanonicalEvent
  /** Whether adjacent texts of one chunk may be joined. */
  joinsTexts: boolean
}

/** Reads a provider's stream and collects its content, which may have to be billed without the provider's usage. */
export function createCompletionStream({ reader, limits, now, scrubText, restore, joinsTexts }: Options) {
  const parser = createSseParser()
  const rules = createCompletionRules()
  const collector = createCompletionCollector()
  const meter = createCompletionMeter(limits, now)
  let received = false
  let isOverlong = false

  function normalizeEvents(events: readonly CanonicalEvent[]): CanonicalEvent[] {
    const ruled = rules.pass(events)
    for (const [index, event] of ruled.entries()) {
      const own = restore(event)
      ruled[index] = own
      const error = own.type === 'error' ? undefined : meter.add(own)
      if (error) {
        isOverlong = true
        return [...ruled.slice(0, index), { type: 'error', error }]
      }
      if (own.type !== 'error') collector.take(own)
    }
    return ruled
  }

  const hasEnded = () => isOverlong || rules.hasEnded()

  /** Reads up to the end of the completion. Later events are ignored. */
  function toSteps(sseEvents: readonly SseEvent[]): StreamStep[] {
    const steps: StreamStep[] = []
    for (const event of sseEvents) {
      const data = scrubText(event.data)
      const sse = data === event.data ? event : { ...event, data }
      steps.push({ sse, events: normalizeEvents(reader.push(sse)) })
      if (hasEnded()) break
    }
    return steps
  }

  function runIn(text: string, from: number): StreamStep | undefined {
    const run = parser.isBetween() ? reader.runIn?.(text, from) : undefined
    if (run && scrubText(run.frames) !== run.frames) return undefined
    return run && reader.pushRun && { sse: undefined, run, events: normalizeEvents([reader.pushRun(run)]) }
  }

  /**
   * Reads events one by one, except for runs: parsing each event of a run would take longer than all other processing.
   */
  function readRuns(text: string): StreamStep[] {
    const steps: StreamStep[] = []
    for (let offset = 0; offset < text.length && !hasEnded(); ) {
      const run = runIn(text, offset)
      if (run) {
        steps.push(run)
        offset += run.run?.frames.length ?? 0
        continue
      }
      const blank = text.indexOf('\n\n', offset)
      const next = blank < 0 ? text.length : blank + 2
      steps.push(...toSteps(parser.take(text.slice(offset, next))))
      offset = next
    }
    return steps
  }

  const feed = (piece: Uint8Array): Fed => {
    const text = parser.textOf(piece)
    const steps = joinsTexts && reader.runIn ? readRuns(text) : toSteps(parser.take(text))
    if (steps.length > 0) received = true
    meter.assertAlive()
    return { FeedResult: steps, ended: isOverlong ? 'cut' : rules.hasEnded() ? 'whole' : undefined }
  }
  const end = (): StreamStep[] => {
    const rest = toSteps(parser.end())
    return [...rest, { sse: undefined, events: normalizeEvents(reader.end()) }]
  }

  return {
    read: (body: AsyncIterable<Uint8Array>) => readSteps(body, { feed, end }),
    hasReceived: () => received,
    answer: collector.answer,
  }
}

export type CompletionStream = ReturnType<typeof createCompletionStream>

type Fed = { FeedResult: StreamStep[]; ended: 'whole' | 'cut' | undefined }
type ChunkFeed = { feed: (piece: Uint8Array) => Fed; end: () => StreamStep[] }

/**
 * Yields all steps of one chunk together, because awaiting each event would cost more than processing it. Not nested in
 * the function above: V8 creates a hidden class for each generator function, which would retain the whole completion
 * until the next full garbage collection.
 */
async function* readSteps(body: AsyncIterable<Uint8Array>, { feed, end }: ChunkFeed): AsyncGenerator<StreamStep[]> {
  const pieces = body[Symbol.asyncIterator]()
  let isWhole = false
  try {
    for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) {
      const { FeedResult: steps, ended } = feed(piece.value)
      isWhole = ended === 'whole'
      if (steps.length > 0) yield steps
      if (ended) return
    }
    isWhole = true
    yield end()
  } finally {
    if (isWhole) void drainStream(pieces)
    else await pieces.return?.()
  }
}

/** Time that a connection may stay open after the end of a completion, in milliseconds. */
const drainMs = 1_000
const maxDrainedBytes = 64 * 1024

/** Reads past the end, so that the connection can be reused. */
async function drainStream(pieces: AsyncIterator<Uint8Array>): Promise<void> {
  const late = setTimeout(() => void pieces.return?.(), drainMs)
  try {
    let bytes = 0
    for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) {
      bytes += piece.value.length
      if (bytes > maxDrainedBytes) return void (await pieces.return?.())
    }
  } catch {
    // The completion was already received in full.
  } finally {
    clearTimeout(late)
  }
}

export function findFinish(events: readonly CanonicalEvent[]): FinishEvent | undefined {
  return events.find((event) => event.type === 'finish')
}

export function findError(events: readonly CanonicalEvent[]): InferenceError | undefined {
  return events.find((event) => event.type === 'error')?.error
}

/** Returns the names of calls whose arguments are invalid JSON. The arguments are forwarded as the model wrote them. */
export function findMalformedCalls(
  parts: ReturnType<ReturnType<typeof createCompletionCollector>['answer']>['parts'],
): string[] {
  return parts.flatMap((part) => {
    if (part.type !== 'call' || isJson(part.arguments)) return []
    return [`the arguments of call ${part.id} are not valid JSON`]
  })
}

function isJson(text: string): boolean {
  try {
    parseJson(text)
    return true
  } catch {
    return false
  }
}
