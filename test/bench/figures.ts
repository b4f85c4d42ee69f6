/** Milliseconds of each try, in order. */
export type Samples = readonly number[]

/** The nearest-rank percentile: a value that was really measured. */
export function percentile(samples: Samples, percent: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN
}

/** Times `work` `count` times, one after the other, after a few tries that do not count. */
export async function timed(count: number, work: (index: number) => Promise<unknown>): Promise<Samples> {
  const warmUp = Math.min(5, count)
  const samples: number[] = []
  for (let index = 0; index < count + warmUp; index++) {
    const start = performance.now()
    await work(index)
    if (index >= warmUp) samples.push(performance.now() - start)
  }
  return samples
}

export function milliseconds(value: number): string {
  return value >= 100 ? `${value.toFixed(0)} ms` : `${value.toFixed(1)} ms`
}

export function megabytesPerSecond(bytes: number, elapsedMs: number): number {
  return bytes / 1e6 / (elapsedMs / 1000)
}
