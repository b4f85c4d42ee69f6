export type KeyedQueue = {
  /** Runs the work after all earlier work with this key has settled. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>
}

/** Creates a queue that runs one task at a time per key. Different keys run concurrently. */
export function createKeyedQueue(): KeyedQueue {
  const tails = new Map<string, Promise<unknown>>()
  return {
    async run(key, work) {
      const before = tails.get(key) ?? Promise.resolve()
      const mine = before.then(work, work)
      const settled = mine.catch(() => {}) // the caller of the work handles the error
      tails.set(key, settled)
      try {
        return await mine
      } finally {
        if (tails.get(key) === settled) tails.delete(key)
      }
    },
  }
}
