import { spawn } from 'node:child_process'
import { statfs } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { MachineStorage } from './machineFolder.ts'

/** Counting goes on in the background up to here. */
const countMs = 60_000
/** Nobody waits longer for the first count. */
const patienceMs = 2_000
/** A count is good for this long, and for a multiple of the time that it took: at most a twentieth goes into counting. */
const freshMs = 5_000
const rest = 20

/** How many bytes the files of a running machine take on its disk. */
export function diskMeter(
  { storage, init }: { storage: MachineStorage; init: number },
  over: AbortSignal,
): () => Promise<number | undefined> {
  if (storage.kind === 'folder') return folderMeter(storage.path, over)
  return async () => {
    const { blocks, bfree, bsize } = await statfs(`/proc/${init}/root`)
    return (blocks - bfree) * bsize
  }
}

/**
 * Counted by `du` when the last count is no longer fresh. The answer is the last count while a new one is under way,
 * and undefined when there is none yet.
 */
function folderMeter(folder: string, over: AbortSignal): () => Promise<number | undefined> {
  let bytes: number | undefined
  let freshUntil = 0
  let counting: Promise<void> | undefined

  const count = async (): Promise<void> => {
    const begun = performance.now()
    bytes = (await usedBytes(folder, over)) ?? bytes
    const ended = performance.now()
    freshUntil = ended + Math.max(freshMs, (ended - begun) * rest)
    counting = undefined
  }

  return async () => {
    if (performance.now() >= freshUntil) counting ??= count()
    if (bytes !== undefined || !counting) return bytes
    const patience = new AbortController()
    const late = pause(patienceMs, undefined, { signal: patience.signal }).catch(() => {}) // called off below
    await Promise.race([counting, late])
    patience.abort()
    return bytes
  }
}

/** @returns undefined when it was called off. Folders in it that may not be read are left out. */
function usedBytes(folder: string, signal: AbortSignal): Promise<number | undefined> {
  return new Promise((resolve) => {
    const counter = spawn('du', ['-s', '-k', '-x', '--', folder], {
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: countMs,
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
