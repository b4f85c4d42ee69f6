import { spawn } from 'node:child_process'
import { closeSync, constants, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { AppError } from '#shared/appError.ts'
import { buildPerlScript, formatPerlArgument } from '../perlScript.ts'
import type { Entrance } from './enter.ts'
import { connectTo, readLines, type Spawner } from './spawner.ts'

const SpawnerReply = z.union([z.object({ done: z.literal(true) }), z.object({ failed: z.string() })])
const unlockTimeoutMs = 10_000

/** Opens connections into a running sandbox, through the sockets that its supervisor has created in its folder. */
export function openSandboxEntrance(options: {
  perl: string
  spawner: Spawner
  /** Folder of the sandbox, accessible only to the user that runs Steward. */
  folder: string
}): Entrance & { close(): void } {
  const opened = openSync(options.folder, constants.O_RDONLY | constants.O_DIRECTORY)
  let closed = false
  const door = async (name: string) => {
    if (closed) throw new AppError('exec/failed', 'The sandbox is shutting down.')
    // Connects through /proc/self/fd, because the path of a socket is limited to 107 bytes and the path of the folder
    // may be longer.
    return connectTo(`/proc/self/fd/${opened}/${name}`).catch((cause: unknown) => {
      throw new AppError('exec/failed', 'Could not connect to the sandbox.', { cause })
    })
  }
  return {
    connect: () => door('keeper'),
    connectFromOutside: () => door('door'),
    giveTerminal: (master) => unlockTerminal(options, master),
    close() {
      if (closed) return
      closed = true
      for (const name of ['keeper', 'door']) rmSync(join(`/proc/self/fd/${opened}`, name), { force: true })
      closeSync(opened)
    },
  }
}

/**
 * Unlocks the terminal in a helper process, because Node has no ioctl(2). The spawner copies the descriptor from this
 * process if the kernel permits it. If ptrace is restricted to child processes (Yama), a child process inherits the
 * descriptor instead.
 */
async function unlockTerminal({ perl, spawner }: { perl: string; spawner: Spawner }, master: number): Promise<void> {
  const socket = await spawner.ask({ do: 'terminal', file: master })
  const outcome = Promise.withResolvers<z.infer<typeof SpawnerReply>>()
  readLines(socket, (line) => outcome.resolve(SpawnerReply.parse(line)))
  socket.once('close', () => outcome.resolve({ failed: 'no response' }))
  const late = setTimeout(() => socket.destroy(), unlockTimeoutMs)
  const reply = await outcome.promise
  clearTimeout(late)
  socket.destroy()
  if ('failed' in reply) await unlockTerminalInChild(perl, master)
}

function unlockTerminalInChild(perl: string, master: number): Promise<void> {
  const script = buildPerlScript('terminal', 'terminalAlone')
  const child = spawn(perl, ['-e', script, formatPerlArgument({})], {
    cwd: '/',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    stdio: [master, 'ignore', 'pipe'],
    timeout: unlockTimeoutMs,
    killSignal: 'SIGKILL',
  })
  let complaint = ''
  child.stderr?.on('data', (bytes: Buffer) => {
    complaint += bytes.toString('utf8')
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(complaint.trim() || `code ${code}`))))
  })
}
