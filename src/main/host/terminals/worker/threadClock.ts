import { readFileSync, readlinkSync } from 'node:fs'

/** Returns the kernel thread id of the calling thread, or 0 if it is unavailable. */
export function getCurrentThreadId(): number {
  try {
    return Number(/\d+$/.exec(readlinkSync('/proc/thread-self'))?.[0] ?? 0)
  } catch {
    return 0 // not Linux
  }
}

/**
 * Returns the CPU time of a thread of this process, in milliseconds. It may not advance for a while on an overloaded
 * computer.
 */
export function readThreadMs(thread: number): number | undefined {
  if (thread === 0) return undefined
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'latin1').split(' ')
    return nanoseconds === undefined ? undefined : Number(nanoseconds) / 1e6
  } catch {
    return undefined // the thread has ended, or the kernel does not account for it
  }
}
