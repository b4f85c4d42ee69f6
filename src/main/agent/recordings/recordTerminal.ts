import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '#shared/appError.ts'
import { recordingLimits } from '#shared/contract/recordings.ts'
import type { Output } from '#shared/contract/route.ts'
import { readTerminal } from '#shared/contract/terminals.ts'
import { SandboxId, TerminalId } from '#shared/ids.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import { type CastFiles, formatCastEvent, formatCastHeader } from './castFiles.ts'
import type { RecordingRow } from './recordingRepository.ts'

type Dependencies = {
  client: Pick<ServiceClient, 'call'>
  files: Pick<CastFiles, 'append'>
  save: (row: RecordingRow) => void
  now: () => number
  signal: AbortSignal
  maxBytes?: number
  betweenMs?: number
}

/** Timeout of a long poll. The service responds as soon as there is output. */
const longPollTimeoutMs = 20_000
/** Interval in which output is combined into one event. A flood of output causes at most 20 reads per second. */
const defaultIntervalMs = 50

/**
 * Records a terminal until it ends, exceeds the limit, or the signal fires. Reads the output that the host stores
 * anyway.
 * @returns the final state of the recording; `running` if it can be continued
 */
export async function recordTerminal(begun: RecordingRow, dependencies: Dependencies): Promise<RecordingRow> {
  const { client, signal, betweenMs = defaultIntervalMs } = dependencies
  let row = begun
  while (row.state === 'running' && !signal.aborted) {
    const query = {
      id: SandboxId.parse(row.sandboxId),
      sessionId: TerminalId.parse(row.terminalId),
      since: row.cursor,
      wait_ms: longPollTimeoutMs,
    }
    let read: Output<typeof readTerminal>
    try {
      read = await client.call(readTerminal, query, { signal })
    } catch (error) {
      if (signal.aborted || !isNotFound(error)) throw error
      row = { ...row, state: 'ended' }
      dependencies.save(row)
      return row
    }
    row = await appendOutput(row, read, dependencies)
    dependencies.save(row)
    if (row.state === 'running') await pause(betweenMs, undefined, { signal }).catch(() => undefined)
  }
  return row
}

async function appendOutput(
  row: RecordingRow,
  read: Output<typeof readTerminal>,
  dependencies: Dependencies,
): Promise<RecordingRow> {
  const { files, now, maxBytes = recordingLimits.maxBytes } = dependencies
  const { cols, rows, cursor, state, missed } = read
  const atMs = now() - row.startedAtMs
  const output = read.encoding === 'base64' ? Buffer.from(read.output, 'base64').toString() : read.output
  const lines = [
    ...(row.bytes === 0
      ? [formatCastHeader({ cols, rows, startedAtMs: row.startedAtMs, title: row.sandboxName })]
      : []),
    ...(row.bytes > 0 && (cols !== row.cols || rows !== row.rows)
      ? [formatCastEvent(atMs, 'r', `${cols}x${rows}`)]
      : []),
    ...(output === '' ? [] : [formatCastEvent(atMs, 'o', output)]),
  ].join('')
  const next: RecordingRow = {
    ...row,
    ...{ cols, rows, cursor, missed: row.missed || missed },
    ...(output !== '' && { durationMs: Math.max(row.durationMs, atMs) }),
    state: state === 'exited' ? 'ended' : 'running',
  }
  if (lines === '') return next
  // Never writes a partial event.
  if (row.bytes + Buffer.byteLength(lines) > maxBytes) return { ...row, state: 'cut' }
  return { ...next, bytes: await files.append(row.id, row.bytes, lines) }
}

/** Whether the terminal or its sandbox no longer exists. */
function isNotFound(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'terminal/not-found' || error.code === 'sandbox/not-found')
}
