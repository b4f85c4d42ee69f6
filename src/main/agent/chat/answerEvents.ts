import { setTimeout } from 'node:timers/promises'
import type { AnswerEvent, Message } from '../../../shared/contract/chatMessages.ts'
import type { RunningAnswer } from './runningAnswers.ts'

/** Nobody reads faster. */
const pauseMs = 33

type Given = {
  answer: RunningAnswer | undefined
  /** As it is now. */
  read: () => Message
  /** The reader has left. */
  signal: AbortSignal
}

/**
 * How an answer grows. Whoever reads keeps count of what was sent, and gets what came since when they ask for more: a
 * slow reader gets longer pieces, and nothing waits for them in memory.
 */
export async function* answerEvents({ answer, read, signal }: Given): AsyncGenerator<{ data: AnswerEvent }> {
  const first = read()
  yield { data: { type: 'snapshot', message: first } }
  if (answer && first.finished_at === null) yield* deltas(answer, first, signal)
  if (!signal.aborted) yield { data: { type: 'end', message: read() } }
}

async function* deltas(
  answer: RunningAnswer,
  first: Pick<Message, 'text' | 'reasoning'>,
  signal: AbortSignal,
): AsyncGenerator<{ data: AnswerEvent }> {
  const sent = { text: first.text.length, reasoning: first.reasoning.length }
  const changes = changesOf(answer, signal)
  try {
    while (!signal.aborted) {
      const delta = { text: answer.text.slice(sent.text), reasoning: answer.reasoning.slice(sent.reasoning) }
      if (delta.text !== '' || delta.reasoning !== '') {
        sent.text += delta.text.length
        sent.reasoning += delta.reasoning.length
        yield { data: { type: 'delta', ...delta, usage: answer.usage } }
        await setTimeout(pauseMs, undefined, { signal }).catch(() => {}) // ends early when the reader leaves
      } else if (answer.isOver) return
      else await changes.next()
    }
  } finally {
    changes.end()
  }
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
