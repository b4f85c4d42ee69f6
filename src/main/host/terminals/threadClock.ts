import { readFileSync, readlinkSync } from 'node:fs'

/** The kernel's id of the calling thread; 0 if unavailable. */
export function presentThread(): number {
  try {
    return Number(/\d+$/.exec(readlinkSync('/proc/thread-self'))?.[0] ?? 0)
  } catch {
    return 0 // not Linux
  }
}

/** CPU milliseconds of a thread of this process. On an overloaded machine it may not advance for a while. */
export function readThreadMs(thread: number): number | undefined {
  if (thread === 0) return undefined
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'latin1').split(' ')
    return nanoseconds === undefined ? undefined : Number(nanoseconds) / 1e6
  } catch {
    return undefined // it has ended, or the kernel keeps no account
  }
}
