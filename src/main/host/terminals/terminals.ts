import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { HostEvent, HostParams, HostResult, TerminalRecord } from '#shared/contract/hostIpc.ts'
import { terminalLimits } from '#shared/contract/terminals.ts'
import type { SandboxId, TerminalId } from '#shared/ids.ts'
import { marksKeyVariable } from '#shared/terminalMarks.ts'
import type { SandboxInstance, SandboxTerminal } from '../runtimes/sandboxRuntime.ts'
import type { SearchQuery } from './emulator/parseSearchExpression.ts'
import { createEndedTerminals, type EndedLimits } from './endedTerminals.ts'
import { searchAll } from './searchAll.ts'
import { createTerminalFiles, getTerminalFolder, listTerminals, type TerminalMeta } from './session/terminalFiles.ts'
import { createTerminalSession, type TerminalSession } from './session/terminalSession.ts'
import { createTerminalEvents } from './terminalEvents.ts'
import type { ScreenPool } from './worker/screenPool.ts'

/** All terminals of all sandboxes, running or recently exited. */
export type Terminals = {
  /** @throws AppError `terminal/too-many`, `terminal/failed` */
  create(instance: SandboxInstance, params: HostParams<'terminal.create'>): Promise<TerminalRecord>
  list(sandboxId: SandboxId): TerminalRecord[]
  /** @throws AppError `terminal/not-found` */
  get(sandboxId: SandboxId, terminalId: TerminalId): TerminalSession
  /**
   * Searches the screens and scrollback of all terminals.
   * @throws AppError `request/invalid` for an expression that is invalid or takes too long
   */
  search(
    sandboxIds: readonly SandboxId[],
    query: SearchQuery,
    signal: AbortSignal,
  ): Promise<HostResult<'terminal.search'>>
  /** Marks whether a sandbox is stopping. Exits in the meantime are attributed to it. */
  machineEnding(sandboxId: SandboxId, ending: boolean): void
  /** Marks the running terminals of a stopped sandbox as exited. */
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

/** Limits of readable ended terminals. Above a limit, the terminal that ended first is removed. */
const defaultMaxEnded: EndedLimits = { perSandbox: 200, bytes: 512 * 1024 * 1024 }

/** Opens the terminals of a previous process, read-only because their programs have ended. */
export async function openTerminals(options: TerminalsOptions): Promise<Terminals> {
  const { folder, now, log } = options
  const sessions = createSessions(options)
  const limitRunning = createRunningLimit()

  for (const meta of await listTerminals(folder, log)) await sessions.open(toExited(meta, now))

  return {
    create(machine, params) {
      const { sandboxId } = params
      const running = sessions.ofSandbox(sandboxId).filter(({ record }) => record.state === 'running').length
      return limitRunning({ sandboxId, running }, () => startTerminal(machine, params, { sessions, now }))
    },
    list: (sandboxId) =>
      sessions
        .ofSandbox(sandboxId)
        .sort(compareByAge)
        .map(({ record }) => record),
    get(sandboxId, terminalId) {
      const session = sessions.find(terminalId)
      if (session?.record.sandboxId === sandboxId) return session
      throw new AppError('terminal/not-found', `There is no terminal ${terminalId} in this sandbox.`)
    },
    search: (sandboxIds, query, signal) =>
      searchAll(
        sandboxIds.flatMap((sandboxId) => sessions.ofSandbox(sandboxId).sort(compareByAge)),
        query,
        signal,
      ),
    async machineEnded(sandboxId) {
      for (const session of sessions.ofSandbox(sandboxId)) session.machineEnding(true)
      await Promise.all(sessions.ofSandbox(sandboxId).map((session) => session.end()))
    },
    machineEnding(sandboxId, ending) {
      for (const session of sessions.ofSandbox(sandboxId)) session.machineEnding(ending)
    },
    async removeAll(sandboxId) {
      await Promise.all(sessions.ofSandbox(sandboxId).map(sessions.remove))
      await rm(join(folder, sandboxId), { recursive: true, force: true })
    },
    close: sessions.close,
  }
}

type Sessions = {
  find(id: TerminalId): TerminalSession | undefined
  ofSandbox(sandboxId: SandboxId): TerminalSession[]
  /** Opens, lists and publishes a terminal. `program` is absent for a terminal of a previous process. */
  open(meta: TerminalMeta, program?: SandboxTerminal): Promise<TerminalSession>
  remove(session: TerminalSession): Promise<void>
  close(): Promise<void>
}

function createSessions(options: TerminalsOptions): Sessions {
  const { folder, pool, onEvent, stallMs, now, log } = options
  const sessions = new Map<TerminalId, TerminalSession>()
  const events = createTerminalEvents({ findSandbox: (id) => sessions.get(id)?.record.sandboxId, onEvent })
  const ended = createEndedTerminals({
    listSessions: () => [...sessions.values()],
    remove(id) {
      const session = sessions.get(id)
      if (!session) return
      remove(session).catch((error: unknown) => log.error('failed to remove a terminal', { id, error }))
    },
    readableMs: options.exitedReadableMs ?? terminalLimits.exitedReadableMs,
    max: options.maxEnded ?? defaultMaxEnded,
    now,
  })

  const remove = async (session: TerminalSession): Promise<void> => {
    const { id, sandboxId } = session.record
    ended.forget(id)
    if (!sessions.delete(id)) return
    events.forget(id)
    await session.remove()
    onEvent({ type: 'terminal.removed', sandboxId, terminalId: id })
  }

  /** Ignores changes before the session is listed, because clients read a terminal as soon as it is published. */
  const onChanged = (record: TerminalRecord): void => {
    if (!sessions.has(record.id)) return
    events.recordChange(record)
    const { id, sandboxId, exitedAtMs } = record
    if (exitedAtMs !== null) ended.add({ id, sandboxId, exitedAtMs })
  }

  return {
    find: (id) => sessions.get(id),
    ofSandbox: (sandboxId) => [...sessions.values()].filter(({ record }) => record.sandboxId === sandboxId),
    async open(meta, program) {
      const { sandboxId, id } = meta.record
      const session = await createTerminalSession({
        meta,
        files: await createTerminalFiles(getTerminalFolder(folder, sandboxId, id), log),
        pool,
        now,
        onChanged,
        onOutput: () => events.recordOutput(id),
        onBell: () => events.recordBell(id),
        onNotice: (text) => events.recordNotice(id, text),
        log,
        ...(stallMs !== undefined && { stallMs }),
        ...(program && { program }),
      })
      sessions.set(id, session)
      onChanged(session.record)
      return session
    },
    remove,
    async close() {
      ended.close()
      events.close()
      await Promise.all([...sessions.values()].map((session) => session.release()))
      sessions.clear()
    },
  }
}

type RunningLimit = <T>(present: { sandboxId: SandboxId; running: number }, start: () => Promise<T>) => Promise<T>

/** Limits the number of running terminals, including those that are starting. */
function createRunningLimit(): RunningLimit {
  const starting = new Map<SandboxId, number>()
  return async ({ sandboxId, running }, start) => {
    const others = starting.get(sandboxId) ?? 0
    if (running + others >= terminalLimits.runningPerSandbox) {
      throw new AppError(
        'terminal/too-many',
        `${terminalLimits.runningPerSandbox} terminals are already running in this sandbox.`,
      )
    }
    starting.set(sandboxId, others + 1)
    try {
      return await start()
    } finally {
      const remaining = (starting.get(sandboxId) ?? 1) - 1
      if (remaining > 0) starting.set(sandboxId, remaining)
      else starting.delete(sandboxId)
    }
  }
}

async function startTerminal(
  machine: SandboxInstance,
  params: HostParams<'terminal.create'>,
  { sessions, now }: { sessions: Sessions; now: () => number },
): Promise<TerminalRecord> {
  const { sandboxId, command, cols, rows, env } = params
  const record = toRecord(params, now())
  const marksKey = randomBytes(16).toString('hex')
  const beside = params.cwdOf === undefined ? undefined : sessions.find(params.cwdOf)
  const cwd = (beside?.record.sandboxId === sandboxId ? await beside.directory() : undefined) ?? params.cwd
  const program = await machine.openTerminal({
    command,
    cols,
    rows,
    cwd,
    env: { ...env, [marksKeyVariable]: marksKey },
  })
  try {
    const session = await sessions.open({ version: 1, record, sizes: [{ cursor: 0, cols, rows }], marksKey }, program)
    return session.record
  } catch (cause) {
    program.close()
    throw createNotStoredError(cause)
  }
}

function toRecord(params: HostParams<'terminal.create'>, createdAtMs: number): TerminalRecord {
  const { sandboxId, terminalId, command, cols, rows } = params
  return {
    id: terminalId,
    sandboxId,
    command,
    cols,
    rows,
    state: 'running',
    createdAtMs,
    name: null,
    title: null,
    process: null,
    exitCode: null,
    signal: null,
    exitedAtMs: null,
    endedWithMachine: false,
  }
}

/** Marks a terminal of a previous process as exited, because its program ended with that process. */
function toExited(meta: TerminalMeta, now: () => number): TerminalMeta {
  const { record } = meta
  if (record.state === 'exited') return meta
  return { ...meta, record: { ...record, state: 'exited', process: null, exitedAtMs: now(), endedWithMachine: true } }
}

function compareByAge(a: TerminalSession, b: TerminalSession): number {
  return a.record.createdAtMs - b.record.createdAtMs
}

function createNotStoredError(cause: unknown): AppError {
  return new AppError('terminal/failed', 'The files of the terminal could not be created.', { cause })
}
