import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Sandbox from manual command lines: bwrap creates the namespaces, nsenter enters them. Has no limits, files or
 * records.
 */
export type ManualSandbox = { exec(command: string): Promise<string>; close(): Promise<void> }

export async function createManualSandbox(): Promise<ManualSandbox> {
  const holder = spawn(
    'bwrap',
    [
      ...['--unshare-all', '--uid', '0', '--gid', '0', '--die-with-parent', '--info-fd', '3'],
      ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib'],
      ...['--symlink', 'usr/lib64', '/lib64', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
      ...['sh', '-c', 'echo ready; exec sleep infinity'],
    ],
    { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] },
  )
  const [pid] = await Promise.all([insidePid(holder), ready(holder)])
  const enter = ['--preserve-credentials', '-t', String(pid), '-U', '-m', '-p', '-n', '-i', '-u', '-C', '--']
  return {
    exec: async (command) => (await run('nsenter', [...enter, 'bash', '-c', command])).stdout,
    close: () =>
      new Promise((resolve) => {
        holder.once('exit', () => resolve())
        holder.kill('SIGKILL')
      }),
  }
}

function insidePid(holder: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = ''
    holder.once('error', reject)
    const info = holder.stdio[3] as Readable // the fourth entry of `stdio` is a pipe
    info.on('data', (bytes: Buffer) => {
      text += bytes.toString()
      const match = /"child-pid": (\d+)/.exec(text)
      if (match) resolve(Number(match[1]))
    })
    info.once('end', () => reject(new Error(`bwrap printed no child-pid: ${text}`)))
  })
}

/** Resolves when the mounts are complete, which happens after bwrap prints the process id. */
async function ready(holder: ChildProcess): Promise<void> {
  if (holder.stdout) await once(holder.stdout, 'data')
}
