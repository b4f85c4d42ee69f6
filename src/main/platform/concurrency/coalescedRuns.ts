import { createKeyedQueue } from './keyedQueue.ts'

export type CoalescedRuns = {
  /**
   * Runs the work after earlier work with this key has settled. Calls before the run begins share it, so the work must
   * read the current state.
   */
  run(key: string, work: () => Promise<void>): Promise<void>
}

/** Creates a queue for work that brings something up to date: one run at a time and at most one waiting, per key. */
export function createCoalescedRuns(): CoalescedRuns {
  const queue = createKeyedQueue()
  const waiting = new Map<string, Promise<void>>()
  return {
    run(key, work) {
      const pending = waiting.get(key)
      if (pending) return pending
      const run = queue.run(key, () => {
        waiting.delete(key)
        return work()
      })
      waiting.set(key, run)
      return run
    },
  }
}
