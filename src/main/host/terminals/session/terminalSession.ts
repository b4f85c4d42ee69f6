import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { TerminalRecord } from '#shared/contract/hostIpc.ts'
import type { TerminalColors } from '#shared/contract/terminalColors.ts'
import { terminalLimits } from '#shared/contract/terminals.ts'
import { createEmitter, type Emitter } from '#shared/emitter.ts'
import type { SandboxTerminal } from '../../runtimes/sandboxRuntime.ts'
import type { SearchQuery } from '../emulator/parseSearchExpression.ts'
import type { ScreenMatches } from '../emulator/screenSearch.ts'
import type { ScreenPool, ScreenSize } from '../worker/screenPool.ts'
import { createFlushRounds } from './flushRounds.ts'
import { createOutputFlow, type OutputFlow } from './outputFlow.ts'
import { openOutput, type TerminalOutput } from './outputHistory.ts'
import { createProgramWatch } from './programWatch.ts'
import { readSince, type SinceReply, type SinceRequest } from './readSince.ts'
import { createScreenFeed, type ScreenFeed } from './screenFeed.ts'
import { createSessionMeta, type SessionMeta } from './sessionMeta.ts'
import { redrawSession } from './sessionRedraw.ts'
import { createSessionScreen, type ScreenRead, type SessionScreen } from './sessionScreen.ts'
import { createSessionViewers, type SessionViewers, type ViewerChoices } from './sessionViewers.ts'
import type { TerminalFiles, TerminalMeta } from './terminalFiles.ts'
import type { Viewer, ViewerStream } from './viewer.ts'

/** One terminal: a running or ended program with its output, screen and viewers. */
export type TerminalSession = {
  readonly record: TerminalRecord
  /** Size of the readable raw output, in bytes. */
  readonly storedBytes: number
  /** Calls `onWritten` once all input is written. @throws AppError `terminal/exited`, `terminal/input-full` */
  write(bytes: Uint8Array, onWritten?: () => void): void
  /** Renames the terminal. Null removes the name. */
  rename(name: string | null): TerminalRecord
  /** @throws AppError `terminal/exited` */
  resize(size: ScreenSize): void
  /** Sets the colors reported by a viewer. */
  draws(colors: TerminalColors): void
  read(question: { full: boolean; format: 'text' | 'ansi' }): Promise<ScreenRead>
  readSince(request: SinceRequest): Promise<SinceReply>
  search(query: SearchQuery): Promise<ScreenMatches>
  attach(stream: ViewerStream, choices: ViewerChoices): Viewer
  /** Returns the absolute working directory of the foreground program, or undefined if it is unknown. */
  directory(): Promise<string | undefined>
  /** Marks whether the sandbox is stopping, in which case an exit is attributed to it. */
  machineEnding(ending: boolean): void
  /** Ends the program. Resolves when it has exited, or after a timeout. */
  end(): Promise<void>
  /** Closes the resources. Files are preserved for the next process. */
  release(): Promise<void>
  /** Closes the terminal and removes its files. */
  remove(): Promise<void>
}

type SessionOptions = {
  meta: TerminalMeta
  files: TerminalFiles
  pool: ScreenPool
  /** Absent for a terminal of a previous process. */
  program?: SandboxTerminal
  stallMs?: number
  now: () => number
  onChanged: (record: TerminalRecord) => void
  onOutput: () => void
  onBell: () => void
  onNotice: (text: string) => void
  log: Log
}

/**
 * Timeout in milliseconds. Runtimes kill a program after a few seconds, so it only matters if a program cannot be
 * killed.
 */
const endTimeoutMs = 15_000

export async function createTerminalSession(options: SessionOptions): Promise<TerminalSession> {
  const { files, program } = options
  const parts = await openParts(options)
  const { meta, output, feed, screen, viewers, news } = parts
  const exit = createSessionExit(options, parts)
  const activity = followProgram(options, { ...parts, exit })

  const requireProgram = (): SandboxTerminal => {
    if (program && meta.record.state === 'running') return program
    throw new AppError('terminal/exited', `The terminal ${meta.record.id} has exited.`)
  }

  const release = async (): Promise<void> => {
    screen.release()
    activity.close()
    viewers.close()
    news.emit()
    await exit.whenSaved()
    feed.close()
    await output.file.waitUntilWritten()
    await output.file.close()
    await meta.save()
  }

  await meta.save()
  return {
    get record() {
      return meta.record
    },
    get storedBytes() {
      return output.history.end - output.history.start
    },
    write(bytes, onWritten) {
      requireProgram().write(bytes, onWritten)
      activity.recordInput()
    },
    rename(name) {
      meta.change({ name })
      void meta.save()
      return meta.record
    },
    resize({ cols, rows }) {
      const resized = requireProgram()
      if (cols === meta.record.cols && rows === meta.record.rows) return
      resized.resize(cols, rows)
      feed.resize({ cols, rows })
      meta.addSize({ cursor: output.memory.end, cols, rows })
      meta.change({ cols, rows })
      viewers.tell({ type: 'resized', cols, rows })
      void meta.save()
    },
    draws: feed.draws,
    read: screen.read,
    readSince: (request) =>
      readSince({ history: output.history, record: () => meta.record, onNews: news.subscribe }, request),
    search: screen.search,
    attach: viewers.attach,
    directory: async () => (meta.record.state === 'running' ? program?.directory?.() : undefined),
    machineEnding: exit.machineEnding,
    async end() {
      if (meta.record.state === 'exited') return
      program?.close()
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, endTimeoutMs)
      })
      await Promise.race([program?.ended, late]).finally(() => clearTimeout(timer))
      activity.recordExit(null, null)
    },
    release,
    async remove() {
      exit.onRemoved()
      feed.close() // does not wait for unparsed output or for the last screen
      await release()
      await files.remove()
    },
  }
}

type SessionParts = {
  meta: SessionMeta
  output: TerminalOutput
  feed: ScreenFeed
  screen: SessionScreen
  viewers: SessionViewers
  flow: OutputFlow
  /** Emits on new output, exit and close. */
  news: Emitter<void>
}

async function openParts(options: SessionOptions): Promise<SessionParts> {
  const { files, program, onChanged, stallMs, log } = options
  const meta = createSessionMeta(options.meta, { files, onChanged })
  const output = await openOutput({
    folder: files.folder,
    maxStoredBytes: terminalLimits.maxOutputBytes,
    onWritten: () => flow.balance(),
    log,
  })
  const feed: ScreenFeed = createScreenFeed(
    {
      pool: options.pool,
      source: output.memory,
      marksKey: meta.marksKey,
      async redraw(screen, until) {
        await output.file.waitUntilWritten()
        const { sizes, drawnFrom } = meta
        await redrawSession({ history: output.history, sizes, files, drawnFrom }, screen, until)
      },
      onAnswer(data) {
        if (meta.record.state === 'running') program?.answer(Buffer.from(data))
      },
      onTitle(title) {
        meta.change({ title })
        viewers.tell({ type: 'title', title })
      },
      onBell: options.onBell,
      onNotice: options.onNotice,
      onParsed: () => flow.balance(),
      onStuck(cursor) {
        log.warn('terminal screen hung, restarting it', { terminal: meta.record.id, cursor })
        meta.drawFrom(cursor)
        void meta.save()
      },
    },
    program && { cols: meta.record.cols, rows: meta.record.rows },
  )
  const screen = createSessionScreen(feed, meta)
  const onMoved = () => flow.balance()
  const viewers = createSessionViewers({ source: output.memory, screen, meta, stallMs, onMoved, log })
  const news = createEmitter()
  const flow: OutputFlow = createOutputFlow({ program, output, feed, viewers, onFlushed: news.emit })
  return { meta, output, feed, screen, viewers, flow, news }
}

type SessionExit = {
  /** Records the exit of the program, only once. */
  record(exitCode: number | null, signal: string | null): void
  /** Resolves when the last screen and output are saved, or immediately while the program runs. */
  whenSaved(): Promise<void>
  machineEnding(ending: boolean): void
  /** Suppresses errors when the last screen can no longer be saved. */
  onRemoved(): void
}

function createSessionExit({ files, now, log }: SessionOptions, parts: SessionParts): SessionExit {
  const { meta, output, screen, viewers, flow } = parts
  let withSandbox = false
  let removed = false
  let finished: Promise<void> = Promise.resolve()

  const finish = async (): Promise<void> => {
    const saved = meta.save()
    try {
      await files.saveScreen(await screen.drawLast())
    } catch (error) {
      if (!removed) log.warn('failed to save the last screen of a terminal', { terminal: meta.record.id, error })
    }
    await output.file.waitUntilWritten()
    if (output.file.isWhole) flow.retainUnusedOnly()
    flow.balance()
    await output.file.close()
    await saved
    screen.rest()
  }

  return {
    record(exitCode, signal) {
      if (meta.record.state === 'exited') return
      flow.flush()
      const exitedAtMs = now()
      meta.change({ state: 'exited', process: null, exitCode, signal, exitedAtMs, endedWithMachine: withSandbox })
      viewers.tell({ type: 'exited', exit_code: exitCode, signal })
      flow.flush()
      finished = finish()
    },
    whenSaved: () => finished,
    machineEnding(ending) {
      withSandbox = ending
    },
    onRemoved() {
      removed = true
    },
  }
}

type ProgramActivity = {
  recordInput(): void
  /** Records the exit, only once. */
  recordExit(exitCode: number | null, signal: string | null): void
  close(): void
}

function followProgram(
  { program, onOutput, log }: SessionOptions,
  { meta, output, flow, exit }: SessionParts & { exit: SessionExit },
): ProgramActivity {
  const watch =
    program?.foreground &&
    createProgramWatch({
      read: async () => program.foreground?.(),
      onProgram: (name) => meta.change({ process: name }),
    })
  const rounds = createFlushRounds(() => {
    flow.flush()
    onOutput()
    watch?.recordOutput()
  })
  const recordExit = (exitCode: number | null, signal: string | null): void => {
    watch?.close()
    exit.record(exitCode, signal)
  }
  program?.onOutput((bytes) => {
    output.memory.append(bytes)
    rounds.touch(bytes.length)
  })
  program?.ended.then(
    ({ exitCode, signal }) => recordExit(exitCode, signal),
    (error: unknown) => {
      log.error('program ended with an unknown status', { terminal: meta.record.id, error })
      recordExit(null, null)
    },
  )
  return {
    recordInput: () => watch?.recordOutput(),
    recordExit,
    close() {
      rounds.close()
      watch?.close()
    },
  }
}
