import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '#platform/log.ts'
import { createThrottlePerKey } from '#platform/throttlePerKey.ts'
import { AppError } from '#shared/appError.ts'
import type { HostEvent, HostParams, HostResult, TerminalRecord } from '#shared/contract/hostIpc.ts'
import { terminalLimits } from '#shared/contract/terminals.ts'
import type { SandboxId, TerminalId } from '#shared/ids.ts'
import { marksKeyVariable } from '#shared/terminalMarks.ts'
import type { Machine } from '../runtimes/sandboxRuntime.ts'
import { createChangeEvents } from './changeEvents.ts'
import type { ScreenPool } from './screenPool.ts'
import { searchAll } from './searchAll.ts'
import type { SearchQuery } from './searchExpression.ts'
import { createTerminalFiles, getTerminalFolder, listTerminals, type TerminalMeta } from './terminalFiles.ts'
import { createTerminalSession, type TerminalSession } from './terminalSession.ts'

/** Every terminal of every machine, running or recently exited. */
export type Terminals = {
  /** @throws AppError `terminal/too-many`, `terminal/failed`. */
  create(machine: Machine, params: HostParams<'terminal.create'>): Promise<TerminalRecord>
  list(sandboxId: SandboxId): TerminalRecord[]
  /** @throws AppError `terminal/not-found`. */
  get(sandboxId: SandboxId, terminalId: TerminalId): TerminalSession
  /**
   * In what they show and keep.
   * @throws AppError `request/invalid` for an expression that is none, or takes too long.
   */
  search(
    sandboxIds: readonly SandboxId[],
    query: SearchQuery,
    signal: AbortSignal,
  ): Promise<HostResult<'terminal.search'>>
  /** Marks that its machine is stopping: terminals that end in the meantime end with it. */
  machineEnding(sandboxId: SandboxId, ending: boolean): void
  /** The machine stopped: marks its running terminals as exited. */
  machineEnded(sandboxId: SandboxId): Promise<void>
  removeAll(sandboxId: SandboxId): Promise<void>
  close(): Promise<void>
}

type TerminalsOptions = {
  folder: string
  pool: ScreenPool
  onEvent: (event: HostEvent) => void
  exitedReadableMs?: number
  maxEnded?: EndedLimits
  stallMs?: number
  now: () => number
  log: Log
}

type EndedLimits = { perSandbox: number; bytes: number }

/** Ended terminals that remain readable. Above the maximum, the one that ended first is removed. */
const defaultMaxEnded: EndedLimits = { perSandbox: 200, bytes: 512 * 1024 * 1024 }

/** Opens terminals from an earlier process, read-only since their programs are gone. */
export async function openTerminals(options: TerminalsOptions): Promise<Terminals> {
  const { folder, pool, onEvent, now, log, exitedReadableMs = terminalLimits.exitedReadableMs } = options
  const { maxEnded = defaultMaxEnded } = options
  const sessions = new Map<TerminalId, TerminalSession>()
  const starting = new Map<SandboxId, number>()
  const expiries = new Map<TerminalId, NodeJS.Timeout>()
  const events = createChangeEvents((terminal) => onEvent({ type: 'terminal.changed', terminal }))
  const telling = (bell: boolean) => (terminalId: TerminalId) => {
    const session = sessions.get(terminalId)
    if (session) onEvent({ type: 'terminal.output', sandboxId: session.record.sandboxId, terminalId, bell })
  }
  const outputs = createThrottlePerKey(telling(false))
  const notices = new Map<TerminalId, string>()
  const calls = createThrottlePerKey((terminalId: TerminalId) => {
    const sandboxId = sessions.get(terminalId)?.record.sandboxId
    const text = notices.get(terminalId)
    notices.delete(terminalId)
    if (sandboxId && text !== undefined) onEvent({ type: 'terminal.called', sandboxId, terminalId, text })
  })
  const bells = createThrottlePerKey(telling(true))

  const ofSandbox = (sandboxId: SandboxId): TerminalSession[] =>
    [...sessions.values()].filter(({ record }) => record.sandboxId === sandboxId)

  const remove = async (session: TerminalSession): Promise<void> => {
    const { id, sandboxId } = session.record
    clearTimeout(expiries.get(id))
    expiries.delete(id)
    if (!sessions.delete(id)) return
    for (const tracker of [events, outputs, bells, calls]) tracker.forget(id)
    notices.delete(id)
    await session.remove()
    onEvent({ type: 'terminal.removed', sandboxId, terminalId: id })
  }

  const expire = (id: TerminalId): void => {
    const session = sessions.get(id)
    if (!session) return
    remove(session).catch((error: unknown) => log.error('a terminal could not be removed', { id, error }))
  }

  const limitEnded = (sandboxId: SandboxId): void => {
    const ended = [...sessions.values()].filter(({ record }) => record.exitedAtMs !== null).sort(byEnd)
    const ofOne = ended.filter(({ record }) => record.sandboxId === sandboxId)
    const extra = new Set(ofOne.slice(0, Math.max(0, ofOne.length - maxEnded.perSandbox)))
    let bytes = ended.reduce((total, { storedBytes }) => total + storedBytes, 0)
    for (const session of ended) {
      if (bytes > maxEnded.bytes) extra.add(session)
      if (extra.has(session)) bytes -= session.storedBytes
    }
    for (const { record } of extra) expire(record.id)
  }

  /** Ignores changes before the session is listed: clients read a terminal as soon as it is published. */
  const onChanged = (record: TerminalRecord): void => {
    if (!sessions.has(record.id)) return
    events.recordChange(record)
    if (record.exitedAtMs === null) return
    if (!expiries.has(record.id)) {
      const delayMs = Math.max(0, record.exitedAtMs + exitedReadableMs - now())
      expiries.set(record.id, setTimeout(() => expire(record.id), delayMs).unref())
    }
    limitEnded(record.sandboxId)
  }

  const open = async (meta: TerminalMeta, extra: Pick<Parameters<typeof createTerminalSession>[0], 'program'>) => {
    const { sandboxId, id } = meta.record
    const files = await createTerminalFiles(getTerminalFolder(folder, sandboxId, id), log)
    const { stallMs } = options
    return createTerminalSession({
      meta,
      files,
      pool,
      now,
      onChanged,
      onOutput: () => outputs.mark(id),
      onBell: () => bells.mark(id),
      onNotice(text) {
        notices.set(id, text)
        calls.mark(id)
      },
      log,
      ...(stallMs !== undefined && { stallMs }),
      ...extra,
    })
  }

  const restore = async (meta: TerminalMeta): Promise<void> => {
    const { record } = meta
    const ended =
      record.state === 'exited'
        ? record
        : { ...record, state: 'exited' as const, process: null, exitedAtMs: now(), endedWithMachine: true }
    sessions.set(record.id, await open({ ...meta, record: ended }, {}))
    onChanged(ended)
  }

  const start = async (machine: Machine, params: HostParams<'terminal.create'>): Promise<TerminalRecord> => {
    const { sandboxId, terminalId, command, cols, rows, env } = params
    const record: TerminalRecord = {
      id: terminalId,
      sandboxId,
      command,
      cols,
      rows,
      state: 'running',
      createdAtMs: now(),
      name: null,
      title: null,
      process: null,
      exitCode: null,
      signal: null,
      exitedAtMs: null,
      endedWithMachine: false,
    }
    const marksKey = randomBytes(16).toString('hex')
    const beside = params.cwdOf === undefined ? undefined : sessions.get(params.cwdOf)
    const cwd = (beside?.record.sandboxId === sandboxId ? await beside.directory() : undefined) ?? params.cwd
    const program = await machine.openTerminal({
      command,
      cols,
      rows,
      cwd,
      env: { ...env, [marksKeyVariable]: marksKey },
    })
    try {
      const session = await open({ version: 1, record, sizes: [{ cursor: 0, cols, rows }], marksKey }, { program })
      sessions.set(terminalId, session)
      onChanged(session.record)
      return session.record
    } catch (cause) {
      program.close()
      throw notStoredError(cause)
    }
  }

  for (const meta of await listTerminals(folder, log)) await restore(meta)

  return {
    async create(machine, params) {
      const { sandboxId } = params
      const running = ofSandbox(sandboxId).filter(({ record }) => record.state === 'running').length
      const others = starting.get(sandboxId) ?? 0
      if (running + others >= terminalLimits.runningPerSandbox) {
        throw new AppError(
          'terminal/too-many',
          `${terminalLimits.runningPerSandbox} terminals already run in this sandbox.`,
        )
      }
      starting.set(sandboxId, others + 1)
      try {
        return await start(machine, params)
      } finally {
        const remaining = (starting.get(sandboxId) ?? 1) - 1
        if (remaining > 0) starting.set(sandboxId, remaining)
        else starting.delete(sandboxId)
      }
    },
    list: (sandboxId) =>
      ofSandbox(sandboxId)
        .sort(byAge)
        .map(({ record }) => record),
    get(sandboxId, terminalId) {
      const session = sessions.get(terminalId)
      if (session?.record.sandboxId === sandboxId) return session
      throw new AppError('terminal/not-found', `There is no terminal ${terminalId} in this sandbox.`)
    },
    search: (sandboxIds, query, signal) =>
      searchAll(
        sandboxIds.flatMap((sandboxId) => ofSandbox(sandboxId).sort(byAge)),
        query,
        signal,
      ),
    async machineEnded(sandboxId) {
      for (const session of ofSandbox(sandboxId)) session.machineEnding(true)
      await Promise.all(ofSandbox(sandboxId).map((session) => session.end()))
    },
    machineEnding(sandboxId, ending) {
      for (const session of ofSandbox(sandboxId)) session.machineEnding(ending)
    },
    async removeAll(sandboxId) {
      await Promise.all(ofSandbox(sandboxId).map(remove))
      await rm(join(folder, sandboxId), { recursive: true, force: true })
    },
    async close() {
      for (const timer of expiries.values()) clearTimeout(timer)
      for (const tracker of [events, outputs, bells, calls]) tracker.close()
      await Promise.all([...sessions.values()].map((session) => session.release()))
      sessions.clear()
    },
  }
}

function byEnd(a: TerminalSession, b: TerminalSession): number {
  return (a.record.exitedAtMs ?? 0) - (b.record.exitedAtMs ?? 0)
}

function byAge(a: TerminalSession, b: TerminalSession): number {
  return a.record.createdAtMs - b.record.createdAtMs
}

function notStoredError(cause: unknown): AppError {
  return new AppError('terminal/failed', 'The files of the terminal could not be created.', { cause })
}
