import { closeSync } from 'node:fs'
import { readFile, readlink } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { ReadStream } from 'node:tty'
import { AppError } from '#shared/appError.ts'
import { sanitizeLine } from '#shared/untrustedText.ts'
import { createNotStartedError, parseExit, toCommandFields } from '../inside/commands.ts'
import type { SandboxTerminal, TerminalRequest } from '../sandboxRuntime.ts'
import { type EnteredProcess, type Entrance, enter } from './enter.ts'
import { killSession, readProcess } from './processTable.ts'
import { openPseudoTerminal, type PseudoTerminal } from './pseudoTerminal.ts'
import { createTerminalInput } from './terminalInput.ts'

/** Exceeds the 15 bytes that the kernel stores. */
const maxProgramNameLength = 32

const deletedMark = ' (deleted)'

/** Grace period for a program to save its work after a hang-up, in milliseconds. */
const hangUpMs = 3_000
/** Silence after the program's exit at which output of other processes on the terminal is cut off, in milliseconds. */
const quietMs = 40
/** Exceeds the output that the kernel buffers before the exit. */
const drainBytes = 8 * 1024 * 1024
const terminalEnvironment = ['TERM=xterm-256color', 'COLORTERM=truecolor']

/** Opens a terminal. Resolves when the command runs. */
export async function openTerminal(
  { entrance, terminals }: { entrance: Entrance; terminals: string },
  request: TerminalRequest,
): Promise<SandboxTerminal> {
  const fields = toCommandFields(request, terminalEnvironment)
  const terminal = pseudoTerminal(terminals)
  const reading: Reading = { deliver: () => {} }
  const stream = createStream(terminal, reading)
  try {
    terminal.resize(request.cols, request.rows)
    await entrance.giveTerminal(terminal.master)
    const entered = enter(entrance, { mode: 'terminal', fields: [String(terminal.number), ...fields] })
    const started = await entered.started
    if (!started) throw await createStartError(entered, request)
    return createRunningTerminal({
      entered,
      leader: started.pid,
      connection: started.connection,
      stream,
      reading,
      terminal,
    })
  } catch (error) {
    stream.destroy()
    if (error instanceof AppError) throw error
    throw createTerminalError('The terminal could not be started.', error)
  }
}

function pseudoTerminal(terminals: string): PseudoTerminal {
  try {
    return openPseudoTerminal(terminals)
  } catch (error) {
    throw createTerminalError('The sandbox could not allocate a pseudo-terminal.', error)
  }
}

/** Takes ownership of the master descriptor. */
function createStream(terminal: PseudoTerminal, reading: Reading): ReadStream {
  try {
    return terminal.stream((bytes) => reading.deliver(bytes))
  } catch (error) {
    closeSync(terminal.master)
    throw createTerminalError('The terminal could not be started.', error)
  }
}

async function createStartError(entered: EnteredProcess, request: TerminalRequest): Promise<AppError> {
  const result = await entered.result
  if (result.kind === 'ended') return new AppError('terminal/failed', 'The program exited during startup.')
  const error = createNotStartedError(result, request.cwd)
  if (error.code !== 'exec/failed') return error
  return createTerminalError(error.message, error)
}

function createTerminalError(message: string, cause: unknown): AppError {
  return new AppError('terminal/failed', message, { cause })
}

/** Consumer of output. Reading starts once it is set. */
type Reading = { deliver: (bytes: Buffer) => void }
type Running = {
  entered: EnteredProcess
  leader: number
  connection: Socket
  stream: ReadStream
  reading: Reading
  terminal: PseudoTerminal
}

function createRunningTerminal({ entered, leader, connection, stream, reading, terminal }: Running): SandboxTerminal {
  const input = createTerminalInput(terminal.master, () => !stream.destroyed)
  let over = false
  let killTimer: NodeJS.Timeout | undefined
  let received = 0
  const hangUp = (): void => {
    input.close()
    stream.destroy()
  }
  const closed = new Promise<'closed'>((resolve) => {
    stream.on('error', hangUp) // EIO: the other end is closed
    stream.once('end', () => {
      // The event loop reports a hang-up as the end even if the kernel still buffers output.
      if (!stream.destroyed) for (const bytes of terminal.rest()) reading.deliver(bytes)
      hangUp()
    })
    stream.once('close', () => resolve('closed'))
  })

  /** Reads the output written before the program's exit, but not the continued output of other processes. */
  const waitUntilDrained = async (): Promise<void> => {
    const atEnd = received
    while (!stream.destroyed) {
      if (stream.isPaused()) await Promise.race([closed, new Promise((resolve) => stream.once('resume', resolve))])
      const before = received
      // Waits one more event loop turn, because under load received output may not have been read yet.
      await Promise.race([closed, pause(quietMs).then(() => nextTurn())])
      if (!stream.isPaused() && (received === before || received - atEnd > drainBytes)) break
    }
  }

  const ended = entered.result.then(async (result) => {
    over = true
    clearTimeout(killTimer)
    await waitUntilDrained()
    hangUp()
    return result.kind === 'ended' ? parseExit(result.status) : { exitCode: null, signal: null }
  })

  return {
    onOutput(listener) {
      reading.deliver = (bytes) => {
        received += bytes.length
        listener(bytes)
      }
      stream.resume()
    },
    write: input.write,
    answer: input.answer,
    resize(cols, rows) {
      if (!stream.destroyed) terminal.resize(cols, rows)
    },
    foreground: async () => (over ? undefined : findForegroundProgram(leader)),
    directory: async () => (over ? undefined : findForegroundDirectory(leader)),
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    close() {
      if (killTimer) return
      hangUp()
      connection.end() // closes the last reference to the program's side, so the kernel hangs up its session
      if (over) return
      killTimer = setTimeout(() => void killSession(leader), hangUpMs)
    },
    ended,
  }
}

/**
 * Returns the name of the terminal's foreground program, or undefined if it is the session leader. Reads `comm` from
 * kernel memory. Reading a process's arguments would read its own memory, where a program can block the reader
 * indefinitely.
 */
async function findForegroundProgram(leader: number): Promise<string | undefined> {
  const group = (await readProcess(leader))?.foreground
  if (group === undefined || group <= 0 || group === leader) return undefined
  const [row, name] = await Promise.all([
    readProcess(group),
    readFile(`/proc/${group}/comm`, 'utf8').catch(() => undefined), // exited in the meantime
  ])
  if (row?.session !== leader || name === undefined) return undefined
  return sanitizeLine(name, maxProgramNameLength) || undefined
}

/**
 * Returns the working directory of the terminal's foreground program, as a path in the sandbox, or undefined if it is
 * unknown or deleted.
 */
async function findForegroundDirectory(leader: number): Promise<string | undefined> {
  const group = (await readProcess(leader))?.foreground
  const process = group !== undefined && group > 0 ? group : leader
  const path = await readlink(`/proc/${process}/cwd`).catch(() => undefined) // exited, or not readable
  if ((await readProcess(process))?.session !== leader) return undefined
  return path?.startsWith('/') && !path.endsWith(deletedMark) ? path : undefined
}
