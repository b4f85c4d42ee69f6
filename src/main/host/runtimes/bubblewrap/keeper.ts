import type { ChildProcess } from 'node:child_process'
import { closeSync, constants, openSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { AppError } from '../../../../shared/appError.ts'
import { enterMessages } from './enterMessages.ts'
import { type EnterProcess, enterProcess, type MachineDoor } from './enterProcess.ts'

/** A process beside one machine that stands in its door, so that nothing has to be started to get in. */
export type Keeper = {
  /** Starts the process ahead of the first request. Never throws: who asks later is told. */
  prepare(): void
  /** Somebody may serve one request on it: whoever does says so first. */
  connect(): Promise<Socket>
  /** Ends the process; requests that are being served go on. */
  close(): void
}

type Post = { child: ChildProcess; ready: Promise<void> }

/** In the machine's folder, above which nobody but Steward's user may go. */
const socketName = 'keeper'
const readyMs = 20_000
const mostTries = 3

/**
 * Can be started at once, but lets nobody in before the machine's PID 1 is known. It counts among the machine's processes and
 * its memory, so the kernel may end it when the machine has used these up: the next request then starts another.
 */
export function keeper(door: MachineDoor, init: Promise<number>): Keeper {
  const folder = openSync(door.folder, constants.O_RDONLY | constants.O_DIRECTORY)
  /** The path of a socket may have 107 bytes, and that of a machine's folder many more. */
  const path = `/proc/self/fd/${folder}/${socketName}`
  let current: Post | undefined
  let closed = false

  const forget = (post: Post): void => {
    if (current === post) current = undefined
  }
  const start = (): Post => {
    const begun = enterProcess(door, { socket: socketName })
    const post: Post = { child: begun.child, ready: becomeReady(begun, init) }
    post.ready.catch(() => forget(post)) // the next request tries again, and is told
    post.child.once('exit', () => forget(post))
    current = post
    return post
  }

  return {
    prepare() {
      try {
        start()
      } catch {
        // The first request tries again.
      }
    },
    async connect() {
      for (let tries = 1; ; tries++) {
        if (closed) throw new AppError('exec/failed', 'The sandbox is being ended.')
        const post = current ?? start()
        await post.ready
        try {
          return await connected(path)
        } catch (failure) {
          forget(post)
          if (tries === mostTries) throw notEntered('Its keeper answers nobody.', failure)
        }
      }
    },
    close() {
      if (closed) return
      closed = true
      current?.child.kill('SIGKILL')
      rmSync(join(door.folder, socketName), { force: true })
      closeSync(folder)
    },
  }
}

async function becomeReady({ child, connection, detail }: EnterProcess, init: Promise<number>): Promise<void> {
  const late = setTimeout(() => child.kill('SIGKILL'), readyMs)
  const said = firstNews(connection)
  try {
    connection.write(`${await init}\0`)
    const word = await said
    if (word !== 'ready') {
      throw notEntered(`${word} ${detail()}`.trim())
    }
  } catch (failure) {
    child.kill('SIGKILL')
    throw failure
  } finally {
    clearTimeout(late)
  }
}

function notEntered(detail: string, cause?: unknown): AppError {
  return new AppError('exec/failed', 'The sandbox cannot be entered.', { detail, cause })
}

/** Resolves with an empty line when the connection ends before. */
function firstNews(connection: Socket): Promise<string> {
  return new Promise((resolve) => {
    const onNews = (line: string): boolean => {
      resolve(line)
      return false
    }
    connection.on('data', enterMessages({ onOutput: () => {}, onErrors: () => {}, onNews }))
    connection.on('error', () => {}) // it ended: `close` comes
    connection.once('end', () => connection.destroy())
    connection.once('close', () => resolve(''))
  })
}

function connected(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen: true })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
  })
}
