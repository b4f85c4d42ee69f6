import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
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
import { recordTerminal } from './recordTerminal.ts'
import type { UnrecordedTerminals } from './unrecordedTerminals.ts'

/** Recordings of terminal output, if the user turned them on. */
export type Recordings = {
  /** @throws AppError `recording/not-found` */
  find(id: string): RecordingRow
  /** @throws AppError `recording/not-found` */
  delete(id: string): Promise<void>
  /** @returns how many there were */
  deleteAll(): Promise<number>
  /** Deletes recordings beyond the retention and size limits. */
  tidy(): Promise<void>
  close(): Promise<void>
}

type Options = {
  records: RecordingRepository
  files: CastFiles
  unrecorded: Pick<UnrecordedTerminals, 'waitUntilOpened' | 'has'>
  settings: Pick<ActivitySettingsStore, 'read' | 'recordSinceMs' | 'subscribe'>
  client: Pick<ServiceClient, 'call'>
  link: Pick<ServiceLink, 'subscribe'>
  note: RecordActivity
  newId: () => string
  now: () => number
  passedMs: Clock['passedMs']
  log: Log
  maxBytesOfAll?: number
}

const dayMs = 86_400_000
const tidyEveryMs = 3_600_000

export function createRecordings(options: Options): Recordings {
  const { records, files, unrecorded, settings, client, link, note, now, passedMs, log } = options
  const closing = new AbortController()
  /** By terminal. */
  const running = new Map<string, { stop: AbortController; done: Promise<void> }>()
  const names = new Map<string, string>()

  const begin = (terminal: Terminal): void => {
    const since = settings.recordSinceMs()
    const { session_id: terminalId, sandbox_id: sandboxId, command, cols, rows, created_at: createdAt } = terminal
    if (closing.signal.aborted || since === null || running.has(terminalId)) return
    const startedAtMs = Date.parse(createdAt)
    // Output before recording was turned on is not recorded.
    if (startedAtMs < since) return
    const settled = unrecorded.waitUntilOpened()
    if (settled) return void settled.then(() => begin(terminal))
    const existing = records.ofTerminal(terminalId)
    if (existing && existing.state !== 'running') return
    const row: RecordingRow = existing ?? {
      ...{ id: options.newId(), terminalId, sandboxId, sandboxName: names.get(sandboxId) ?? sandboxId.slice(0, 8) },
      ...{ command, state: 'running', missed: false, cursor: 0, cols, rows, bytes: 0, durationMs: 0, startedAtMs },
    }
    if (unrecorded.has(terminalId)) {
      if (!existing) records.add({ ...row, state: 'deleted', sandboxName: '', command: '' }) // also after a restart
      return
    }
    if (!existing) records.add(row)
    goOn(row)
  }

  /** From where it was. */
  const goOn = (row: RecordingRow): void => {
    const { terminalId } = row
    if (closing.signal.aborted || settings.recordSinceMs() === null || running.has(terminalId)) return
    const stop = new AbortController()
    const signal = AbortSignal.any([stop.signal, closing.signal])
    const done = record(row, signal).finally(() => running.delete(terminalId))
    running.set(terminalId, { stop, done })
  }

  const record = async (begun: RecordingRow, signal: AbortSignal): Promise<void> => {
    const save = (row: RecordingRow): void => {
      if (!signal.aborted) records.save(row)
    }
    try {
      const row = await recordTerminal(begun, { client, files, save, now, signal })
      if (row.state !== 'running' && !signal.aborted) toEnd(row)
    } catch (error) {
      if (signal.aborted) return
      // The next output or connection continues the recording.
      log.warn('a terminal could not be recorded', { terminal: begun.terminalId, error })
    }
  }

  const toEnd = ({ id, terminalId, sandboxId, sandboxName, state, bytes, durationMs }: RecordingRow): void => {
    if (bytes === 0) return // it showed nothing
    note({
      kind: 'terminal.recorded',
      actor: { kind: 'system', name: 'Steward' },
      subject: sandboxId,
      summary: `Recorded a terminal of ${sandboxName}: ${durationText(durationMs)}${state === 'cut' ? ', up to the largest size' : ''}.`,
      detail: { sandbox_name: sandboxName, recording_id: id, duration_ms: durationMs, bytes },
      links: { recording: id, terminal: terminalId, sandbox: sandboxId },
    })
    void tidy()
  }

  /** Reconciles with the present terminals: some may have started or ended without an event. */
  const look = async (): Promise<void> => {
    if (settings.recordSinceMs() === null || closing.signal.aborted) return
    const { signal } = closing
    try {
      const { sandboxes } = await client.call(listSandboxes, {}, { signal })
      for (const { id, name } of sandboxes) names.set(id, name)
      for (const { id } of sandboxes.filter(({ status }) => status === 'running')) {
        const { sessions } = await client.call(listTerminals, { id: id as SandboxId, all: 'true' }, { signal })
        sessions.forEach(begin)
      }
      records.listUnfinished().forEach(goOn)
    } catch (error) {
      if (!signal.aborted) log.info('terminals could not be listed', { error })
    }
  }

  const recordOutput = (terminalId: string): void => {
    if (running.has(terminalId) || settings.recordSinceMs() === null) return
    const row = records.ofTerminal(terminalId)
    if (row?.state === 'running') goOn(row)
  }

  const stopAll = async (): Promise<void> => {
    const all = [...running.values()]
    for (const { stop } of all) stop.abort()
    await Promise.allSettled(all.map(({ done }) => done))
  }

  const forget = async (row: RecordingRow): Promise<void> => {
    const present = running.get(row.terminalId)
    present?.stop.abort()
    await present?.done
    await files.remove(row.id)
    const stays = { ...row, state: 'deleted', sandboxName: '', command: '', bytes: 0, durationMs: 0 } as const
    records.save(stays) // its terminal may still run
  }

  const tidyOnce = async (): Promise<void> => {
    const before = passedMs() - settings.read().keep_recordings_days * dayMs
    for (const row of records.listStartedBefore(before)) {
      if (running.has(row.terminalId)) continue // its newest part is not that old
      await files.remove(row.id)
      records.remove(row.id)
    }
    const { maxBytesOfAll = recordingLimits.maxBytesOfAll } = options
    let { bytes } = records.sums({ sandboxId: undefined, terminalId: undefined })
    for (const row of records.oldest(10_000)) {
      if (bytes <= maxBytesOfAll) return
      if (running.has(row.terminalId)) continue
      await forget(row)
      bytes -= row.bytes
    }
  }
  let tidying = Promise.resolve()
  const tidy = (): Promise<void> => {
    tidying = tidying
      .then(() => (closing.signal.aborted ? undefined : tidyOnce()))
      .catch((error: unknown) => log.error('old recordings could not be deleted', { error }))
    return tidying
  }

  const unsubscribe = link.subscribe((event) => {
    if (event.type === 'sandbox.changed') names.set(event.sandbox.id, event.sandbox.name)
    // A terminal that ends immediately is published only after its end.
    if (event.type === 'terminal.changed') begin(event.terminal)
    if (event.type === 'terminal.output') recordOutput(event.session_id)
    if (event.type === 'ready') void look()
  })
  const leaveSettings = settings.subscribe(({ record_terminals: isEnabled }) => {
    if (!isEnabled) void stopAll().then(endRunning)
    void tidy()
  })
  /** Turned on again, only terminals that are opened then are recorded. */
  const endRunning = (): void => {
    for (const row of records.listUnfinished()) records.save({ ...row, state: 'ended' })
  }
  const timer = setInterval(() => void tidy(), tidyEveryMs)

  const find = (id: string): RecordingRow => {
    const row = records.find(id)
    if (row && row.state !== 'deleted') return row
    throw new AppError('recording/not-found', `There is no recording ${id}.`)
  }
  return {
    find,
    async delete(id) {
      const row = find(id)
      await forget(row)
      recordDeletion(note, 1)
    },
    async deleteAll() {
      const all = records.oldest(100_000)
      for (const row of all) await forget(row)
      if (all.length > 0) recordDeletion(note, all.length)
      return all.length
    },
    tidy,
    async close() {
      unsubscribe()
      leaveSettings()
      clearInterval(timer)
      closing.abort()
      await stopAll()
      await tidying
    },
  }
}

function recordDeletion(note: RecordActivity, count: number): void {
  const subject = count === 1 ? 'a recording of a terminal' : `${count} recordings of terminals`
  note({
    kind: 'terminal.recording_deleted',
    actor: { kind: 'person', name: 'You' },
    summary: `You deleted ${subject}.`,
  })
}

function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
