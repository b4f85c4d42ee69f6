import { setTimeout } from 'node:timers/promises'
import type { Message, MessageEvent } from '#shared/contract/chatMessages.ts'
import type { ChatCall } from '#shared/contract/chatTools.ts'
import type { ActiveRun } from './activeRuns.ts'

/** Interval between events, shorter than users can perceive in text. */
const intervalMs = 33
/** Maximum characters per delta, which limits the data buffered for a stalled client. */
const maxDelta = 65_536

type StreamOptions = {
  run: ActiveRun | undefined
  read: () => Message
  /** Aborted when the client disconnects. */
  signal: AbortSignal
}

/**
 * Streams a growing assistant message. Each event contains everything since the previous one, so a slow client gets
 * larger events, up to a limit. At most one event is buffered in memory.
 */
export async function* streamMessageEvents({
  run,
  read,
  signal,
}: StreamOptions): AsyncGenerator<{ data: MessageEvent }> {
  const first = read()
  yield { data: { type: 'snapshot', message: first } }
  if (run && first.finished_at === null) yield* streamDeltas(run, first, signal)
  if (!signal.aborted) yield { data: { type: 'end', message: read() } }
}

async function* streamDeltas(
  run: ActiveRun,
  first: Pick<Message, 'text' | 'reasoning' | 'calls'>,
  signal: AbortSignal,
): AsyncGenerator<{ data: MessageEvent }> {
  const sentLengths = { text: first.text.length, reasoning: first.reasoning.length }
  const sentCalls = new Map(first.calls.map((call) => [call.id, JSON.stringify(call)]))
  let lastCalls: readonly ChatCall[] | undefined
  /** Returns calls that changed since they were last sent. */
  const takeChangedCalls = (): ChatCall[] => {
    if (run.calls === lastCalls) return []
    lastCalls = run.calls
    return lastCalls.filter((call) => {
      const written = JSON.stringify(call)
      const isNew = sentCalls.get(call.id) !== written
      sentCalls.set(call.id, written)
      return isNew
    })
  }
  const changes = createChanges(run, signal)
  try {
    while (!signal.aborted) {
      const calls = takeChangedCalls()
      if (calls.length > 0) yield { data: { type: 'calls', calls, usage: run.usage } }
      const delta = {
        text: sliceDelta(run.text, sentLengths.text),
        reasoning: sliceDelta(run.reasoning, sentLengths.reasoning),
      }
      if (delta.text !== '' || delta.reasoning !== '') {
        sentLengths.text += delta.text.length
        sentLengths.reasoning += delta.reasoning.length
        yield { data: { type: 'delta', ...delta, usage: run.usage } }
        const hasUnsent = sentLengths.text < run.text.length || sentLengths.reasoning < run.reasoning.length
        // returns early when the client disconnects
        if (!hasUnsent) await setTimeout(intervalMs, undefined, { signal }).catch(() => {})
      } else if (calls.length > 0) await setTimeout(intervalMs, undefined, { signal }).catch(() => {})
      else if (run.isStored) return
      else await changes.next()
    }
  } finally {
    changes.end()
  }
}

function sliceDelta(text: string, from: number): string {
  return text.slice(from, from + maxDelta)
}

function createChanges(run: ActiveRun, signal: AbortSignal) {
  let changed = false
  let wake = (): void => {}
  const onChange = (): void => {
    changed = true
    wake()
  }
  const unsubscribe = run.onChange(onChange)
  signal.addEventListener('abort', onChange, { once: true })
  return {
    /** Waits for a change since the last call, or for the client to disconnect. */
    async next(): Promise<void> {
      if (!changed && !run.isStored) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      changed = false
    },
    end() {
      unsubscribe()
      signal.removeEventListener('abort', onChange)
    },
  }
}
