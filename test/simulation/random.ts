/** Seeded random numbers. The same seed yields the same sequence. */
export type Random = {
  /** Returns a number in [0, 1). */
  next(): number
  /** Returns an integer between `min` and `max`, inclusive. */
  whole(min: number, max: number): number
  chance(probability: number): boolean
  pick<T>(values: readonly T[]): T
}

/** mulberry32: https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
export function createSeededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const whole = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1))
  return {
    next,
    whole,
    chance: (probability) => next() < probability,
    pick: <T>(values: readonly T[]): T => values[whole(0, values.length - 1)] as T, // the index is in range
  }
}
