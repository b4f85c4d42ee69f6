import type { TerminalRecord } from '#shared/contract/hostIpc.ts'
import { countOrphaned, countUnfinished } from '../emulator/wholeCharacters.ts'
import type { OutputHistory } from './outputHistory.ts'

export type SinceRequest = { since: number; waitMs: number; maxBytes: number; signal: AbortSignal }
export type SinceReply = { terminal: TerminalRecord; cursor: number; missed: boolean; bytes: Buffer }

type SinceSource = {
  history: OutputHistory
  record: () => TerminalRecord
  /** Calls the listener once on new output, exit or close. @returns a function that unsubscribes */
  onNews: (listener: () => void) => () => void
}

/** Reads raw output from a cursor, in whole characters. Waits for output while the program runs. */
export async function readSince(source: SinceSource, request: SinceRequest): Promise<SinceReply> {
  const { history } = source
  const since = Math.min(request.since, history.end)
  const patience = AbortSignal.any([request.signal, AbortSignal.timeout(request.waitMs)])
  for (;;) {
    const running = source.record().state === 'running'
    const { start, bytes } = await history.read(since, request.maxBytes)
    const missed = start > since
    const begin = missed ? countOrphaned(bytes) : 0
    // No further output can complete the last character, so its bytes are returned as they are.
    const last = !running && start + bytes.length === history.end
    const whole = bytes.subarray(begin, bytes.length - (last ? 0 : countUnfinished(bytes)))
    const cursor = start + begin + whole.length
    if (whole.length > 0 || last || request.waitMs === 0 || patience.aborted) {
      return { terminal: toStateAt(source.record(), cursor === history.end), cursor, missed, bytes: whole }
    }
    await waitForOutput(source, start + bytes.length, patience)
  }
}

/** Reports `running` until all output is read, so that a client that receives `exited` has read everything. */
function toStateAt(record: TerminalRecord, atEnd: boolean): TerminalRecord {
  if (atEnd || record.state === 'running') return record
  return { ...record, state: 'running', exitCode: null, signal: null, exitedAtMs: null, endedWithMachine: false }
}

/** Resolves on output beyond `seen`, on exit, or when `signal` aborts. */
function waitForOutput(source: SinceSource, cursor: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || source.history.end > cursor || source.record().state === 'exited') return resolve()
    const done = (): void => {
      stop()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const stop = source.onNews(done)
    signal.addEventListener('abort', done)
  })
}
