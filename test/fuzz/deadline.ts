const tickMs = 100
const maxWallMs = 120_000

/** CPU time of a process, in milliseconds. On a busy computer it may not advance for a long time. */
export type WorkClock = () => number | Promise<number>

/** CPU time of this process and its workers. */
export const ownWork: WorkClock = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Fails if `work` does not end before the clock has advanced by the deadline. */
export async function withinDeadline<T>(
  subject: string,
  { ms, clock }: { ms: number; clock: WorkClock },
  work: Promise<T>,
): Promise<T> {
  const late = Promise.withResolvers<never>()
  const startMs = await clock()
  const endWallMs = Date.now() + maxWallMs
  const ticking = setInterval(() => {
    void Promise.resolve(clock()).then((nowMs) => {
      if (nowMs - startMs < ms && Date.now() < endWallMs) return
      late.reject(new Error(`${subject} took longer than ${Math.round(ms)} ms.`))
    }, late.reject)
  }, tickMs)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearInterval(ticking)
  }
}

const [minBytes, cellMs] = [4, 1e-5]

/** Maximum time for input that consists of the shortest sequences that redraw a screen of this size. */
export function maxMsFor(bytes: number, { cols, rows }: { cols: number; rows: number }): number {
  return (bytes / minBytes) * cols * rows * cellMs
}
