import type { Log } from '#platform/logging/log.ts'
import type { Clock } from '#platform/time/clock.ts'
import { AppError } from '#shared/appError.ts'
import { recordingLimits } from '#shared/contract/recordings.ts'
import { listSandboxes } from '#shared/contract/sandboxes.ts'
import { listTerminals, type Terminal } from '#shared/contract/terminals.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { ActivitySettingsStore } from '../activity/activitySettings.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import type { ServiceLink } from '../connections/serviceLink.ts'
import type { CastFiles } from './castFiles.ts'
import type { RecordingRepository, RecordingRow } from './recordingRepository.ts'
import { createTerminalRecorder, type TerminalRecorder } from './terminalRecorder.ts'
import type { UnrecordedTerminals } from './unrecordedTerminals.ts'

/** Recordings of terminal output, active only if the user turned recording on. */
export type Recordings = {
  /** @throws AppError `recording/not-found` */
  find(id: string): RecordingRow
  /** @throws AppError `recording/not-found` */
  delete(id: string): Promise<void>
  /** @returns the number of deleted recordings */
  deleteAll(): Promise<number>
  /** Deletes recordings that exceed the retention or size limits. */
  prune(): Promise<void>
  close(): Promise<void>
}

type Options = {
  records: RecordingRepository
  files: CastFiles
  unrecorded: Pick<UnrecordedTerminals, 'waitUntilOpened' | 'has'>
  settings: Pick<ActivitySettingsStore, 'read' | 'recordSinceMs' | 'subscribe'>
  client: Pick<ServiceClient, 'call'>
  link: Pick<ServiceLink, 'subscribe'>
  recordActivity: RecordActivity
  newId: () => string
  now: () => number
  passedMs: Clock['passedMs']
  log: Log
  maxBytesOfAll?: number
}

const dayMs = 86_400_000
const pruneIntervalMs = 3_600_000

export function createRecordings(options: Options): Recordings {
  const { records, settings, link, recordActivity } = options
  const closing = new AbortController()
  const { signal } = closing
  const recorder = createTerminalRecorder(options, { signal, onEnd: () => void deletion.prune() })
  const deletion = createDeletion(options, recorder, signal)
  const start = createRecordingStart(options, recorder, signal)

  const recordOutput = (terminalId: string): void => {
    if (recorder.isRecording(terminalId) || settings.recordSinceMs() === null) return
    const row = records.ofTerminal(terminalId)
    if (row?.state === 'running') recorder.record(row)
  }
  const unsubscribeFromLink = link.subscribe((event) => {
    if (event.type === 'sandbox.changed') start.setSandboxName(event.sandbox.id, event.sandbox.name)
    // A terminal that ends immediately is published only after its end.
    if (event.type === 'terminal.changed') start.begin(event.terminal)
    if (event.type === 'terminal.output') recordOutput(event.session_id)
    if (event.type === 'ready') void start.synchronize()
  })
  const unsubscribeFromSettings = settings.subscribe(({ record_terminals: isEnabled }) => {
    if (!isEnabled) void recorder.stopAll().then(endRunning)
    void deletion.prune()
  })
  /** Ends all recordings. If recording is turned on again, only new terminals are recorded. */
  const endRunning = (): void => {
    for (const row of records.listUnfinished()) records.save({ ...row, state: 'ended' })
  }
  const timer = setInterval(() => void deletion.prune(), pruneIntervalMs)

  const find = (id: string): RecordingRow => {
    const row = records.find(id)
    if (row && row.state !== 'deleted') return row
    throw new AppError('recording/not-found', `There is no recording ${id}.`)
  }
  return {
    find,
    async delete(id) {
      const row = find(id)
      await deletion.deleteContent(row)
      recordDeletion(recordActivity, 1)
    },
    async deleteAll() {
      const all = records.oldest(100_000)
      for (const row of all) await deletion.deleteContent(row)
      if (all.length > 0) recordDeletion(recordActivity, all.length)
      return all.length
    },
    prune: deletion.prune,
    async close() {
      unsubscribeFromLink()
      unsubscribeFromSettings()
      clearInterval(timer)
      closing.abort()
      await recorder.stopAll()
      await deletion.waitUntilIdle()
    },
  }
}

/** Selects the terminals to record and starts their recordings. */
function createRecordingStart(options: Options, recorder: TerminalRecorder, signal: AbortSignal) {
  const { records, unrecorded, settings, client, log } = options
  const sandboxNames = new Map<string, string>()

  const begin = (terminal: Terminal): void => {
    const since = settings.recordSinceMs()
    const { session_id: terminalId, sandbox_id: sandboxId, command, cols, rows, created_at: createdAt } = terminal
    if (signal.aborted || since === null || recorder.isRecording(terminalId)) return
    const startedAtMs = Date.parse(createdAt)
    // Terminals opened before recording was turned on are not recorded.
    if (startedAtMs < since) return
    const settled = unrecorded.waitUntilOpened()
    if (settled) return void settled.then(() => begin(terminal))
    const existing = records.ofTerminal(terminalId)
    if (existing && existing.state !== 'running') return
    const sandboxName = sandboxNames.get(sandboxId) ?? sandboxId.slice(0, 8)
    const row: RecordingRow = existing ?? {
      ...{ id: options.newId(), terminalId, sandboxId, sandboxName },
      ...{ command, state: 'running', missed: false, cursor: 0, cols, rows, bytes: 0, durationMs: 0, startedAtMs },
    }
    if (unrecorded.has(terminalId)) {
      // keeps it unrecorded after a restart
      if (!existing) records.add({ ...row, state: 'deleted', sandboxName: '', command: '' })
      return
    }
    if (!existing) records.add(row)
    recorder.record(row)
  }

  return {
    begin,
    setSandboxName: (id: string, name: string): void => void sandboxNames.set(id, name),
    /** Reconciles with the current terminals, because some may have started or ended without an event. */
    async synchronize(): Promise<void> {
      if (settings.recordSinceMs() === null || signal.aborted) return
      try {
        const { sandboxes } = await client.call(listSandboxes, {}, { signal })
        for (const { id, name } of sandboxes) sandboxNames.set(id, name)
        for (const { id } of sandboxes.filter(({ status }) => status === 'running')) {
          const { sessions } = await client.call(listTerminals, { id: id as SandboxId, all: 'true' }, { signal })
          sessions.forEach(begin)
        }
        records.listUnfinished().forEach(recorder.record)
      } catch (error) {
        if (!signal.aborted) log.info('failed to list terminals', { error })
      }
    },
  }
}

/** Deletes recordings. Sweeps of the retention and size limits run one at a time. */
function createDeletion(options: Options, recorder: TerminalRecorder, signal: AbortSignal) {
  const { records, files, settings, passedMs, log } = options
  let tidying = Promise.resolve()

  const deleteContent = async (row: RecordingRow): Promise<void> => {
    await recorder.stop(row.terminalId)
    await files.remove(row.id)
    const stays = { ...row, state: 'deleted', sandboxName: '', command: '', bytes: 0, durationMs: 0 } as const
    records.save(stays) // the terminal may still be running
  }
  const pruneOnce = async (): Promise<void> => {
    const before = passedMs() - settings.read().keep_recordings_days * dayMs
    for (const row of records.listStartedBefore(before)) {
      if (recorder.isRecording(row.terminalId)) continue // still growing, so its newest part is recent
      await files.remove(row.id)
      records.remove(row.id)
    }
    const { maxBytesOfAll = recordingLimits.maxBytesOfAll } = options
    let { bytes } = records.sums({ sandboxId: undefined, terminalId: undefined })
    for (const row of records.oldest(10_000)) {
      if (bytes <= maxBytesOfAll) return
      if (recorder.isRecording(row.terminalId)) continue
      await deleteContent(row)
      bytes -= row.bytes
    }
  }
  return {
    deleteContent,
    prune(): Promise<void> {
      tidying = tidying
        .then(() => (signal.aborted ? undefined : pruneOnce()))
        .catch((error: unknown) => log.error('failed to delete old recordings', { error }))
      return tidying
    },
    waitUntilIdle: (): Promise<void> => tidying,
  }
}

function recordDeletion(recordActivity: RecordActivity, count: number): void {
  const subject = count === 1 ? 'a recording of a terminal' : `${count} recordings of terminals`
  recordActivity({
    kind: 'terminal.recording_deleted',
    actor: { kind: 'person', name: 'You' },
    summary: `You deleted ${subject}.`,
  })
}
