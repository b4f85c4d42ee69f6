import { spawn } from 'node:child_process'
import { statfs } from 'node:fs/promises'
import { createBackgroundCount } from '../inside/backgroundCount.ts'
import { buildFileCommand } from './images/inRange.ts'
import type { SandboxStorage } from './sandboxFolder.ts'

/** Timeout of one count in the background, in milliseconds. */
const countTimeoutMs = 60_000

/** Creates a meter for the disk usage of a running sandbox, in bytes. */
export function createDiskMeter(
  /** `disk`: folder on the sandbox's dedicated disk, if it has one. */
  { storage, disk }: { storage: SandboxStorage; disk: string | undefined },
  over: AbortSignal,
): () => Promise<number | undefined> {
  if (disk === undefined) return createBackgroundCount(() => measureUsage(storage.path, over))
  return async () => {
    const { blocks, bfree, bsize } = await statfs(disk)
    return (blocks - bfree) * bsize
  }
}

/** Measures usage with `du`. Excludes unreadable subfolders. @returns undefined if it was aborted */
async function measureUsage(folder: string, signal: AbortSignal): Promise<number | undefined> {
  const [program = '', ...parts] = await buildFileCommand(folder, ['du', '-s', '-k', '-x', '--', folder])
  return new Promise((resolve) => {
    const counter = spawn(program, parts, {
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: countTimeoutMs,
      killSignal: 'SIGKILL',
      signal,
    })
    let said = ''
    counter.stdout.on('data', (bytes: Buffer) => {
      said += bytes.toString('latin1')
    })
    counter.once('error', () => resolve(undefined))
    counter.once('close', () => {
      const kilobytes = /^(\d+)\s/.exec(said)?.[1]
      resolve(kilobytes === undefined ? undefined : Number(kilobytes) * 1024)
    })
  })
}
