import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, constants, mkdirSync, openSync, rmSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { connect, Socket } from 'node:net'
import { join } from 'node:path'
import type { Log } from '#platform/logging/log.ts'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { isRunning } from '#platform/processes/processIdentity.ts'
import { AppError } from '#shared/appError.ts'
import { buildPerlScript, formatPerlArgument } from '../perlScript.ts'
import { enterKinds } from './enterMessages.ts'

/**
 * Forks processes on behalf of the host, because its large memory makes forking slow. See `spawner.pl`. Started by the
 * first request.
 */
export type Spawner = {
  /**
   * Sends one request. The serving process takes over the connection and responds with lines of JSON.
   * @throws AppError `exec/failed` if the process does not start
   */
  ask(request: SpawnerRequest): Promise<Socket>
  /** Ends the spawner. Processes started by it continue to run. */
  close(): void
}

export type SpawnerRequest = Readonly<Record<string, unknown>> & { do: 'start' | 'try' | 'terminal' }

type Running = { child: ChildProcess; ready: Promise<void> }

const socketPrefix = 'spawner-'
const readyMs = 20_000
const maxTries = 3

export async function removeStaleSockets(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const owner = name.startsWith(socketPrefix) ? Number.parseInt(name.slice(socketPrefix.length), 10) : process.pid
    if (!isRunning(owner)) await rm(join(folder, name), { force: true })
  }
}

/** @param folder accessible only to the user that runs Steward */
export function createSpawner({ perl, folder, log }: { perl: string; folder: string; log: Log }): Spawner {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const name = `${socketPrefix}${process.pid}-${randomBytes(4).toString('hex')}`
  const opened = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  /**
   * Uses /proc/self/fd, because the path of a socket is limited to 107 bytes and the path of the folder may be longer.
   */
  const path = `/proc/self/fd/${opened}/${name}`
  let current: Running | undefined
  let closed = false

  const start = (): Running => {
    const script = buildPerlScript(
      'range',
      'owners',
      'files',
      'start',
      'exec',
      'enter',
      'view',
      'terminal',
      'network',
      'supervisor',
      'spawner',
    )
    const settings = { folder, name, owner: process.pid, kinds: enterKinds }
    const child = spawn(perl, ['-e', script, formatPerlArgument(settings)], {
      cwd: '/',
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    child.stdin.on('error', () => {}) // already exited, `exit` follows
    child.stderr.on('data', (bytes: Buffer) => log.warn('spawner stderr', { said: bytes.toString('utf8').trim() }))
    // Unreferenced, so that the spawner does not keep the host's event loop alive.
    child.unref()
    for (const pipe of [child.stdin, child.stdout, child.stderr]) if (pipe instanceof Socket) pipe.unref()
    const running: Running = { child, ready: waitUntilReady(child) }
    const forget = (): void => {
      if (current === running) current = undefined
    }
    running.ready.catch(forget) // the next request retries and receives the error
    child.once('exit', forget)
    current = running
    return running
  }

  return {
    async ask(request) {
      for (let tries = 1; ; tries++) {
        if (closed) throw new AppError('exec/failed', 'The sandboxes are shutting down.')
        const running = current ?? start()
        await running.ready
        try {
          const socket = await connectTo(path)
          socket.write(`${JSON.stringify(request)}\n`)
          return socket
        } catch (error) {
          if (current === running) current = undefined
          if (tries === maxTries) throw createStartError('The spawner socket does not respond.', error)
        }
      }
    },
    close() {
      if (closed) return
      closed = true
      current?.child.stdin?.end()
      rmSync(join(folder, name), { force: true })
      closeSync(opened)
    },
  }
}

function waitUntilReady(child: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const late = setTimeout(() => child.kill('SIGKILL'), readyMs)
  child.stdout?.once('data', () => resolve())
  child.once('error', (error) => reject(createStartError('The spawner cannot be started.', error)))
  child.once('exit', (code, signal) => reject(createStartError(`The spawner exited with ${signal ?? code}.`)))
  return promise.finally(() => clearTimeout(late))
}

function createStartError(detail: string, cause?: unknown): AppError {
  return new AppError('exec/failed', 'The process that starts sandboxes is not running.', { detail, cause })
}

export function connectTo(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen: true })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      socket.on('error', () => {}) // handled by `close`
      resolve(socket)
    })
  })
}

/** Maximum length of one line, in characters. Our own processes write shorter lines. */
const maxLineLength = 16 * 1024 * 1024

/** Calls `onLine` for each line of JSON. An invalid or overlong line closes the connection. */
export function readLines(socket: Socket, onLine: (line: unknown) => void): void {
  let text = ''
  socket.setEncoding('utf8')
  socket.on('data', (piece: string) => {
    text += piece
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const line = text.slice(0, end)
      text = text.slice(end + 1)
      try {
        onLine(parseJson(line))
      } catch {
        socket.destroy()
        return
      }
    }
    if (text.length > maxLineLength) socket.destroy()
  })
}
