import { setTimeout } from 'node:timers/promises'
import type { AnswerEvent, Message } from '#shared/contract/chatMessages.ts'
import type { ChatCall } from '#shared/contract/chatTools.ts'
import type { RunningAnswer } from './runningAnswers.ts'

/** Nobody reads faster. */
const pauseMs = 33
/** In characters: so much waits for a reader who takes nothing. */
const longestDelta = 65_536

type Given = {
  answer: RunningAnswer | undefined
  /** As it is now. */
  read: () => Message
  /** The reader has left. */
  signal: AbortSignal
}

/**
 * How an answer grows. Whoever reads keeps count of what was sent, and gets what came since when they ask for more: a
 * slow reader gets longer pieces, up to a limit, and no more than one waits for them in memory.
 */
export async function* answerEvents({ answer, read, signal }: Given): AsyncGenerator<{ data: AnswerEvent }> {
  const first = read()
  yield { data: { type: 'snapshot', message: first } }
  if (answer && first.finished_at === null) yield* deltas(answer, first, signal)
  if (!signal.aborted) yield { data: { type: 'end', message: read() } }
}

async function* deltas(
  answer: RunningAnswer,
  first: Pick<Message, 'text' | 'reasoning' | 'calls'>,
  signal: AbortSignal,
): AsyncGenerator<{ data: AnswerEvent }> {
  const sent = { text: first.text.length, reasoning: first.reasoning.length }
  const known = new Map(first.calls.map((call) => [call.id, JSON.stringify(call)]))
  let seen: readonly ChatCall[] | undefined
  /** Those that the reader does not know as they are now. */
  const news = (): ChatCall[] => {
    if (answer.calls === seen) return []
    seen = answer.calls
    return seen.filter((call) => {
      const written = JSON.stringify(call)
      const isNew = known.get(call.id) !== written
      known.set(call.id, written)
      return isNew
    })
  }
  const changes = changesOf(answer, signal)
  try {
    while (!signal.aborted) {
      const calls = news()
      if (calls.length > 0) yield { data: { type: 'calls', calls, usage: answer.usage } }
      const delta = { text: next(answer.text, sent.text), reasoning: next(answer.reasoning, sent.reasoning) }
      if (delta.text !== '' || delta.reasoning !== '') {
        sent.text += delta.text.length
        sent.reasoning += delta.reasoning.length
        yield { data: { type: 'delta', ...delta, usage: answer.usage } }
        const isBehind = sent.text < answer.text.length || sent.reasoning < answer.reasoning.length
        if (!isBehind) await setTimeout(pauseMs, undefined, { signal }).catch(() => {}) // ends early when the reader leaves
      } else if (calls.length > 0) await setTimeout(pauseMs, undefined, { signal }).catch(() => {})
      else if (answer.isOver) return
      else await changes.next()
    }
  } finally {
    changes.end()
  }
}

function next(text: string, from: number): string {
  return text.slice(from, from + longestDelta)
}

function changesOf(answer: RunningAnswer, signal: AbortSignal) {
  let changed = false
  let wake = (): void => {}
  const onChange = (): void => {
    changed = true
    wake()
  }
  const leave = answer.onChange(onChange)
  signal.addEventListener('abort', onChange, { once: true })
  return {
    /** Waits for one since the last call, or for the reader to leave. */
    async next(): Promise<void> {
      if (!changed && !answer.isOver) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      changed = false
    },
    end() {
      leave()
      signal.removeEventListener('abort', onChange)
    },
  }
}
