import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { getHostPidFile } from '../net/hostSocket.ts'
import { processIdentity } from './processIdentity.ts'

/** File names in the source tree and in a build. */
const hostProgram = /^host\.[jt]s$/

/** Process of a sandbox host. `identity` distinguishes it from a later process with the same id. */
export type HostProcess = { pid: number; identity: string }

/**
 * Finds the host of a data folder by its pid file. After a crash another program may have the process id, so the
 * command line must be that of this folder's host.
 */
export async function findHostProcess(dataFolder: string): Promise<HostProcess | undefined> {
  try {
    const pid = Number(await readFile(getHostPidFile(dataFolder), 'utf8'))
    const [, ...line] = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0')
    const [program = '', ...args] = line.slice(line.findIndex((argument) => !argument.startsWith('-'))) // options of Node.js
    if (!hostProgram.test(basename(program))) return undefined
    if (args[args.indexOf('--data') + 1] !== dataFolder) return undefined
    const identity = await processIdentity(pid)
    return identity === undefined ? undefined : { pid, identity }
  } catch {
    return undefined
  }
}

/** Whether the process is stopped by a signal or a debugger. */
export async function isHostStopped({ pid }: HostProcess): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return /^[Tt] /.test(stat.slice(stat.lastIndexOf(')') + 2))
}

/** @returns false if it has already exited */
export async function killHostProcess({ pid, identity }: HostProcess): Promise<boolean> {
  if ((await processIdentity(pid)) !== identity) return false
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}
