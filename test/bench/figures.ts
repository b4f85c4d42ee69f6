/** Duration of each try in milliseconds, in order. */
export type Samples = readonly number[]

/** Returns the nearest-rank percentile, which is always a measured value. */
export function percentile(samples: Samples, percent: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN
}

const warmUps = 5

/** Times `count` sequential calls of `work`, after a few warm-up calls that are not counted. */
export async function measureEach(count: number, work: (index: number) => Promise<unknown>): Promise<Samples> {
  const warmUp = Math.min(warmUps, count)
  const samples: number[] = []
  for (let index = 0; index < count + warmUp; index++) {
    const durationMs = await measureMs(() => work(index))
    if (index >= warmUp) samples.push(durationMs)
  }
  return samples
}

async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

export type Compared = { mine: Samples; peer: Samples }

/** Alternates between both, try by try, so that other load on the computer affects both equally. */
export async function measureTogether(
  count: number,
  { mine, peer }: Record<keyof Compared, (index: number) => Promise<unknown>>,
): Promise<Compared> {
  const warmUp = Math.min(warmUps, count)
  const samples = { mine: [] as number[], peer: [] as number[] }
  for (let index = 0; index < count + warmUp; index++) {
    const [ownMs, peerMs] = [await measureMs(() => mine(index)), await measureMs(() => peer(index))]
    if (index < warmUp) continue
    samples.mine.push(ownMs)
    samples.peer.push(peerMs)
  }
  return samples
}

export function milliseconds(value: number): string {
  return value >= 100 ? `${value.toFixed(0)} ms` : `${value.toFixed(1)} ms`
}

export function megabytesPerSecond(bytes: number, elapsedMs: number): number {
  return bytes / 1e6 / (elapsedMs / 1000)
}
