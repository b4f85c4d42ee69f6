import { readFileSync, readlinkSync } from 'node:fs'

/** The kernel's number of the thread that asks; 0 where there is none to be had. */
export function presentThread(): number {
  try {
    return Number(/\d+$/.exec(readlinkSync('/proc/thread-self'))?.[0] ?? 0)
  } catch {
    return 0 // not Linux
  }
}

/** Milliseconds that a thread of this process has run: on a machine that is busy it may stand still for long. */
export function threadMs(thread: number): number | undefined {
  if (thread === 0) return undefined
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'latin1').split(' ')
    return nanoseconds === undefined ? undefined : Number(nanoseconds) / 1e6
  } catch {
    return undefined // it has ended, or the kernel keeps no account
  }
}
