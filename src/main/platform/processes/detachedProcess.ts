import { spawn } from 'node:child_process'
import { open } from 'node:fs/promises'

export type DetachedProgram = {
  /** Script for Node.js. */
  entry: string
  /** Options of Node.js. Default: none */
  nodeOptions?: readonly string[]
  args: readonly string[]
  /** File to which the output is appended. Readable by this user only. */
  logFile: string
  /** Environment of the process. Other variables of this process are not inherited. */
  environment: Readonly<Record<string, string | undefined>>
}

/**
 * Starts a Node.js program that outlives this process, in a separate session and without inherited file descriptors.
 * Resolves with its process id once it runs. The caller checks its readiness.
 */
export async function launchDetached({
  entry,
  nodeOptions = [],
  args,
  logFile,
  environment,
}: DetachedProgram): Promise<number> {
  const log = await open(logFile, 'a', 0o600)
  try {
    // In Electron, `execPath` is Electron's binary, which runs as Node.js only with this variable.
    const env = { ...environment, ELECTRON_RUN_AS_NODE: '1' }
    const child = spawn(process.execPath, [...nodeOptions, entry, ...args], {
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      env,
    })
    const pid = await new Promise<number>((resolve, reject) => {
      child.once('error', reject)
      child.once('spawn', () => resolve(child.pid ?? 0))
    })
    child.unref()
    return pid
  } finally {
    await log.close()
  }
}
