import { spawn } from 'node:child_process'
import { open } from 'node:fs/promises'

export type DetachedProgram = {
  /** A script for Node. */
  entry: string
  /** Options of Node.js. Default: none. */
  nodeOptions?: readonly string[]
  args: readonly string[]
  /** Takes what it prints, appended; readable by this user only. */
  logFile: string
  /** Everything it may see of our environment: what is not named here does not reach it. */
  environment: Readonly<Record<string, string | undefined>>
}

/**
 * Starts a Node program that outlives this process, in a separate session and without inherited files. Resolves with
 * its pid once it runs; the caller checks whether it is ready.
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
    // Inside Electron this is Electron's own binary, which only this variable turns into Node.
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
