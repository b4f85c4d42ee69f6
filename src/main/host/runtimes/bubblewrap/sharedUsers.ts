import { spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { buildPerlScript, formatPerlArgument } from '../perlScript.ts'
import type { IdRange } from './images/idRange.ts'

/** User namespace in which an ordinary user's sandboxes are created. See `users.pl`. Created by the first call. */
export type SharedUsers = {
  /**
   * @returns the PID of the process that holds the namespace
   * @throws Error with the reason
   */
  holder(): Promise<number>
  /** Stops the holder. Running sandboxes retain the namespace. */
  close(): void
}

const readyMs = 20_000
const complaintCharacters = 2_000

export function createSharedUsers({ perl, range }: { perl: string; range: IdRange }): SharedUsers {
  let current: { pid: Promise<number>; end(): void } | undefined
  let closed = false

  const start = () => {
    const child = spawn(perl, ['-e', buildPerlScript('range', 'users'), formatPerlArgument({ range })], {
      cwd: '/',
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    child.unref()
    for (const pipe of [child.stdin, child.stdout, child.stderr]) if (pipe instanceof Socket) pipe.unref()
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const late = setTimeout(() => child.kill('SIGKILL'), readyMs)
    let complaint = ''
    child.stdin.on('error', () => {}) // already exited, `close` follows
    child.stderr.on('data', (bytes: Buffer) => {
      if (complaint.length < complaintCharacters) complaint += bytes.toString('utf8')
    })
    child.stdout.once('data', () => resolve(child.pid ?? 0))
    child.once('error', reject)
    child.once('exit', () => {
      if (current === holder) current = undefined
    })
    child.once('close', () =>
      reject(new Error(complaint.trim() || 'the process that holds the user ids of sandboxes exited')),
    )
    const holder = { pid: promise.finally(() => clearTimeout(late)), end: () => void child.stdin.end() }
    holder.pid.catch(() => {}) // the caller of `holder` receives the error
    return holder
  }

  return {
    async holder() {
      if (closed) throw new Error('the sandboxes are shutting down')
      current ??= start()
      return current.pid
    },
    close() {
      closed = true
      current?.end()
    },
  }
}
