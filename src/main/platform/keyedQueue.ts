export type KeyedQueue = {
  /** Runs the work once everything queued under this key before it has ended, whether well or not. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>
}

/** One change at a time for each key; different keys do not wait for each other. */
export function createKeyedQueue(): KeyedQueue {
  const tails = new Map<string, Promise<unknown>>()
  return {
    async run(key, work) {
      const before = tails.get(key) ?? Promise.resolve()
      const mine = before.then(work, work)
      const settled = mine.catch(() => {}) // its own caller handles the error; the next one only waits
      tails.set(key, settled)
      try {
        return await mine
      } finally {
        if (tails.get(key) === settled) tails.delete(key)
      }
    },
  }
}
