import type { Log } from '#platform/logging/log.ts'
import type { ActivitySettingsStore } from '../activity/activitySettings.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import type { CastFiles } from './castFiles.ts'
import type { RecordingRepository, RecordingRow } from './recordingRepository.ts'
import { recordTerminal } from './recordTerminal.ts'

/** Active recordings, one per terminal. */
export type TerminalRecorder = {
  /** Continues a recording at its cursor, unless it is active or recording is off. */
  record(row: RecordingRow): void
  isRecording(terminalId: string): boolean
  /** Resolves once no more output of this terminal is written. */
  stop(terminalId: string): Promise<void>
  stopAll(): Promise<void>
}

export type RecorderOptions = {
  records: Pick<RecordingRepository, 'save'>
  files: CastFiles
  settings: Pick<ActivitySettingsStore, 'recordSinceMs'>
  client: Pick<ServiceClient, 'call'>
  recordActivity: RecordActivity
  now: () => number
  log: Log
}

/**
 * @param context `signal` stops all recordings; `onEnd` is called after a recording that ended without being stopped
 */
export function createTerminalRecorder(
  options: RecorderOptions,
  context: { signal: AbortSignal; onEnd: () => void },
): TerminalRecorder {
  const { records, files, settings, client, recordActivity, now, log } = options
  const running = new Map<string, { stop: AbortController; done: Promise<void> }>()

  const run = async (begun: RecordingRow, signal: AbortSignal): Promise<void> => {
    const save = (row: RecordingRow): void => {
      if (!signal.aborted) records.save(row)
    }
    try {
      const row = await recordTerminal(begun, { client, files, save, now, signal })
      if (row.state === 'running' || signal.aborted || row.bytes === 0) return // an empty recording is not reported
      recordEnd(recordActivity, row)
      context.onEnd()
    } catch (error) {
      if (signal.aborted) return
      // The next output or connection continues the recording.
      log.warn('failed to record a terminal', { terminal: begun.terminalId, error })
    }
  }
  const stop = async (terminalId: string): Promise<void> => {
    const present = running.get(terminalId)
    present?.stop.abort()
    await present?.done
  }

  return {
    record(row) {
      const { terminalId } = row
      if (context.signal.aborted || settings.recordSinceMs() === null || running.has(terminalId)) return
      const stop = new AbortController()
      const signal = AbortSignal.any([stop.signal, context.signal])
      const done = run(row, signal).finally(() => running.delete(terminalId))
      running.set(terminalId, { stop, done })
    },
    isRecording: (terminalId) => running.has(terminalId),
    stop,
    async stopAll() {
      await Promise.allSettled([...running.keys()].map(stop))
    },
  }
}

function recordEnd(recordActivity: RecordActivity, row: RecordingRow): void {
  const { id, terminalId, sandboxId, sandboxName, state, bytes, durationMs } = row
  recordActivity({
    kind: 'terminal.recorded',
    actor: { kind: 'system', name: 'Steward' },
    subject: sandboxId,
    summary: `Recorded a terminal of ${sandboxName}: ${formatDuration(durationMs)}${state === 'cut' ? ', cut off at the maximum size' : ''}.`,
    detail: { sandbox_name: sandboxName, recording_id: id, duration_ms: durationMs, bytes },
    links: { recording: id, terminal: terminalId, sandbox: sandboxId },
  })
}

function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
