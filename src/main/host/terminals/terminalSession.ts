import type { Log } from '#platform/log.ts'
import { AppError } from '#shared/appError.ts'
import type { HostResult, TerminalRecord } from '#shared/contract/hostIpc.ts'
import type { TerminalColors } from '#shared/contract/terminalColors.ts'
import type { ServerStreamMessage } from '#shared/contract/terminalStream.ts'
import { terminalLimits } from '#shared/contract/terminals.ts'
import { createEmitter } from '#shared/emitter.ts'
import type { MachineTerminal } from '../runtimes/sandboxRuntime.ts'
import { createBackPressure } from './backPressure.ts'
import { createFlushRounds } from './flushRounds.ts'
import { openOutput } from './outputHistory.ts'
import { createProgramWatch } from './programWatch.ts'
import { readSince, type SinceReply, type SinceRequest } from './readSince.ts'
import { createScreenFeed } from './screenFeed.ts'
import type { ScreenQuestion } from './screenMessages.ts'
import type { ScreenPool, ScreenSize } from './screenPool.ts'
import type { ScreenMatches } from './screenSearch.ts'
import type { SearchQuery } from './searchExpression.ts'
import { redrawSession } from './sessionRedraw.ts'
import type { TerminalFiles, TerminalMeta } from './terminalFiles.ts'
import { createViewer, type PresentScreen, type Viewer, type ViewerStream } from './viewer.ts'

export type ScreenRead = HostResult<'terminal.read'> & { bytes: Uint8Array }

/** One terminal: a program, running or ended, with its output, its screen and its viewers. */
export type TerminalSession = {
  readonly record: TerminalRecord
  /** Raw output that is still readable, in bytes. */
  readonly storedBytes: number
  /** Calls `onWritten` once all input is written. @throws AppError `terminal/exited`, `terminal/input-full` */
  write(bytes: Uint8Array, onWritten?: () => void): void
  /** Null removes the name. */
  rename(name: string | null): TerminalRecord
  /** @throws AppError `terminal/exited`. */
  resize(size: ScreenSize): void
  /** A viewer reports its colors. */
  draws(colors: TerminalColors): void
  read(question: { full: boolean; format: 'text' | 'ansi' }): Promise<ScreenRead>
  readSince(request: SinceRequest): Promise<SinceReply>
  search(query: SearchQuery): Promise<ScreenMatches>
  attach(stream: ViewerStream, choices: ViewerChoices): Viewer
  /** Absolute path of the working directory of its foreground program; undefined where that is unknown. */
  directory(): Promise<string | undefined>
  /** Whether its machine is being stopped: an end from now on is the machine's. */
  machineEnding(ending: boolean): void
  /** Asks the program to exit. Resolves when it has, or after a timeout. */
  end(): Promise<void>
  /** Closes its resources; its files stay for the next process. */
  release(): Promise<void>
  /** Closes it and removes its files. */
  remove(): Promise<void>
}

/** `marks`: sends command marks beside the snapshot. `skip`: sends the current screen instead of a flood. */
export type ViewerChoices = { scrollback: number; marks?: boolean | undefined; skip?: boolean | undefined }

type SessionOptions = {
  meta: TerminalMeta
  files: TerminalFiles
  pool: ScreenPool
  /** Absent for a terminal of an earlier process. */
  program?: MachineTerminal
  stallMs?: number
  now: () => number
  onChanged: (record: TerminalRecord) => void
  onOutput: () => void
  onBell: () => void
  onNotice: (text: string) => void
  log: Log
}

/** Raw output held in memory. Older output is read from disk. */
const memoryBytes = 1024 * 1024
/** Bytes that each consumer may lag behind before the program is paused. A screen needs only the end of a flood. */
const maxLag = { screen: 4 * 1024 * 1024, viewer: 8 * 1024 * 1024, disk: 4 * 1024 * 1024 }
/** Runtimes kill a program after a few seconds; this timeout covers one that cannot be killed. */
const endMs = 15_000
const screenIdleMs = 10_000
const maxSizes = 256

export async function createTerminalSession(options: SessionOptions): Promise<TerminalSession> {
  const { files, pool, program, now, log } = options
  let { record, sizes, drawnFrom } = options.meta
  const { marksKey } = options.meta
  let released = false
  let removed = false
  let inMemoryBytes = memoryBytes
  let idle: NodeJS.Timeout | undefined
  let finished: Promise<void> = Promise.resolve()
  const viewers = new Set<Viewer>()
  const news = createEmitter()
  const demand = createBackPressure(program)

  const { memory, file, history } = await openOutput({
    folder: files.folder,
    maxStoredBytes: terminalLimits.keptOutputBytes,
    onWritten: () => balance(),
    log,
  })
  const feed = createScreenFeed(
    {
      pool,
      source: memory,
      marksKey,
      async redraw(screen, until) {
        await file.waitUntilWritten()
        await redrawSession({ history, sizes, files, drawnFrom }, screen, until)
      },
      onAnswer(data) {
        if (record.state === 'running') program?.answer(Buffer.from(data))
      },
      onTitle(title) {
        change({ title })
        tellViewers({ type: 'title', title })
      },
      onBell: options.onBell,
      onNotice: options.onNotice,
      onParsed: () => balance(),
      onStuck(cursor) {
        log.warn('the screen of a terminal was stuck and is begun anew', { terminal: record.id, cursor })
        drawnFrom = cursor
        void save()
      },
    },
    program && { cols: record.cols, rows: record.rows },
  )

  const change = (changed: Partial<TerminalRecord>): void => {
    record = { ...record, ...changed }
    options.onChanged(record)
  }
  const save = (): Promise<void> =>
    files.save({
      version: 1,
      record,
      sizes,
      ...(drawnFrom !== undefined && { drawnFrom }),
      ...(marksKey !== undefined && { marksKey }),
    })
  const tellViewers = (message: ServerStreamMessage): void => {
    for (const viewer of viewers) viewer.mark(message)
  }

  /** Pauses the program for slow consumers, and frees output that all have used. */
  const balance = (): void => {
    const screen = { lag: memory.end - feed.parsed, allowed: maxLag.screen }
    const disk = { lag: memory.end - file.end, allowed: maxLag.disk }
    const nexts = [...viewers].map((it) => it.next ?? memory.end)
    demand([screen, disk, ...nexts.map((next) => ({ lag: memory.end - next, allowed: maxLag.viewer }))])
    memory.forget(Math.min(memory.end - inMemoryBytes, feed.sent, file.end, ...nexts))
  }

  const flush = (): void => {
    for (const viewer of viewers) viewer.pump()
    feed.pump()
    file.pump()
    news.emit()
    balance()
  }
  const watch =
    program?.foreground &&
    createProgramWatch({
      read: async () => program.foreground?.(),
      onProgram: (name) => change({ process: name }),
    })
  const rounds = createFlushRounds(() => {
    flush()
    options.onOutput()
    watch?.recordOutput()
  })

  let withMachine = false
  const onExit = (exitCode: number | null, signal: string | null): void => {
    if (record.state === 'exited') return
    flush()
    watch?.close()
    change({ state: 'exited', process: null, exitCode, signal, exitedAtMs: now(), endedWithMachine: withMachine })
    tellViewers({ type: 'exited', exit_code: exitCode, signal })
    flush()
    finished = finish()
  }

  const finish = async (): Promise<void> => {
    const saved = save()
    try {
      const drawn = await feed.ask({ kind: 'snapshot', scrollback: terminalLimits.scrollbackLines }, () => {})
      await files.saveScreen(drawn)
    } catch (error) {
      if (!removed) log.warn('could not save the last screen of a terminal', { terminal: record.id, error })
    }
    await file.waitUntilWritten()
    if (file.isWhole) inMemoryBytes = 0
    balance()
    await file.close()
    await saved
    restScreen()
  }

  /** Exited terminals are rarely read: frees the screen, which is redrawn on demand. */
  const restScreen = (): void => {
    clearTimeout(idle)
    if (!released && record.state === 'exited') idle = setTimeout(() => feed.unload(), screenIdleMs).unref()
  }

  const ask = async (question: ScreenQuestion, posted: (cursor: number) => void) => {
    clearTimeout(idle)
    try {
      return await feed.ask(question, posted)
    } finally {
      restScreen()
    }
  }

  const present = async (scrollback: number): Promise<PresentScreen> => {
    let cursor = 0
    const { bytes, cols, rows, marks } = await ask({ kind: 'snapshot', scrollback }, (posted) => {
      cursor = posted
    })
    const message = { type: 'skipped', cols, rows, cursor, at: marks?.at ?? 0, marks: marks?.marks ?? [] } as const
    return { cursor, message, bytes }
  }

  const running = (): MachineTerminal => {
    if (program && record.state === 'running') return program
    throw new AppError('terminal/exited', `The terminal ${record.id} has exited.`)
  }

  const createAttached = (cursor: number, { cols, rows, state }: TerminalRecord): ServerStreamMessage => ({
    type: 'attached',
    session_id: record.id,
    cols,
    rows,
    state,
    cursor,
    title: record.title,
  })

  const release = async (): Promise<void> => {
    released = true
    clearTimeout(idle)
    rounds.close()
    watch?.close()
    for (const viewer of viewers) viewer.close()
    viewers.clear()
    news.emit()
    await finished
    feed.close()
    await file.waitUntilWritten()
    await file.close()
    await save()
  }

  program?.onOutput((bytes) => {
    memory.append(bytes)
    rounds.touch(bytes.length)
  })
  program?.ended.then(
    ({ exitCode, signal }) => onExit(exitCode, signal),
    (error: unknown) => {
      log.error('a program ended in an unknown way', { terminal: record.id, error })
      onExit(null, null)
    },
  )
  await save()

  return {
    get record() {
      return record
    },
    get storedBytes() {
      return history.end - history.start
    },
    write(bytes, onWritten) {
      running().write(bytes, onWritten)
      watch?.recordOutput()
    },
    rename(name) {
      change({ name })
      void save()
      return record
    },
    resize({ cols, rows }) {
      const resized = running()
      if (cols === record.cols && rows === record.rows) return
      resized.resize(cols, rows)
      feed.resize({ cols, rows })
      sizes = [...sizes, { cursor: memory.end, cols, rows }].slice(-maxSizes)
      change({ cols, rows })
      tellViewers({ type: 'resized', cols, rows })
      void save()
    },
    draws: feed.draws,
    async read({ full, format }) {
      let cursor = 0
      let terminal = record
      const { bytes, cursorPosition } = await ask({ kind: 'read', full, format }, (posted) => {
        cursor = posted
        terminal = record
      })
      return { terminal, cursor, cursorPosition, bytes }
    },
    readSince: (request) =>
      readSince(
        {
          history,
          record: () => record,
          onNews: news.subscribe,
        },
        request,
      ),
    async search(query) {
      const { matches } = await ask({ kind: 'search', query }, () => {})
      return matches ?? { matches: [], truncated: false, slow: false }
    },
    attach(stream, { scrollback, marks, skip }) {
      const added = createViewer({
        source: memory,
        stream,
        ...(options.stallMs !== undefined && { stallMs: options.stallMs }),
        present: skip ? (isOver) => present(isOver ? scrollback : 0) : undefined,
        onMoved: balance,
        onEnded: () => viewers.delete(added),
      })
      viewers.add(added)
      let first = createAttached(0, record)
      ask({ kind: 'snapshot', scrollback }, (cursor) => {
        added.await(cursor)
        first = createAttached(cursor, record)
        const { state, exitCode, signal } = record
        if (state === 'exited') added.mark({ type: 'exited', exit_code: exitCode, signal })
      }).then(
        (drawn) => {
          const offset = drawn.marks?.at ?? 0
          const message: ServerStreamMessage = {
            type: 'marks',
            key: marksKey ?? null,
            at: offset,
            marks: drawn.marks?.marks ?? [],
          }
          added.begin(first, drawn.bytes, marks ? message : undefined)
        },
        (error: unknown) => {
          log.warn('a viewer could not be shown the screen', { terminal: record.id, error })
          added.end(error instanceof AppError ? error : new AppError('internal/unexpected', 'The screen failed.'))
        },
      )
      return added
    },
    directory: async () => (record.state === 'running' ? program?.directory?.() : undefined),
    machineEnding(ending) {
      withMachine = ending
    },
    async end() {
      if (record.state === 'exited') return
      program?.close()
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, endMs)
      })
      await Promise.race([program?.ended, late]).finally(() => clearTimeout(timer))
      onExit(null, null)
    },
    release,
    async remove() {
      removed = true
      feed.close() // does not wait for unparsed output or for the last screen
      await release()
      await files.remove()
    },
  }
}
