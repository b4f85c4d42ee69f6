import { createSerialQueue } from '#platform/concurrency/serialQueue.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Query } from '#storage/store.ts'
import type { EventHub } from '../events/eventHub.ts'
import { removedThingRepository } from './removedThingRepository.ts'

export type RemovedThingAnnouncer = {
  /**
   * Publishes `things.removed` to each account with removals since the last call. Call it after their transaction.
   * Never rejects: the next call also publishes removals that could not be read.
   */
  announce(): Promise<void>
  /** Waits for the calls under way. Later ones have no effect. */
  close(): Promise<void>
}

/** Skips the removals of earlier processes. @throws StoreUnavailableError */
export async function createRemovedThingAnnouncer(options: {
  read: Query
  publish: EventHub['publish']
  log: Log
}): Promise<RemovedThingAnnouncer> {
  const { read, publish, log } = options
  const runInOrder = createSerialQueue()
  let through = await removedThingRepository.getLastOfAll(read)
  /** Call that has not read anything yet, and so covers the removals of further callers. */
  let waiting: Promise<void> | undefined
  let isClosed = false

  const publishGrown = async (): Promise<void> => {
    try {
      const last = new Map<AccountId, number>()
      for (const { accountId, sequence } of await removedThingRepository.listOfAll(read, through)) {
        last.set(accountId, sequence)
        through = sequence
      }
      for (const [accountId, sequence] of last) publish(accountId, { type: 'things.removed', sequence })
    } catch (error) {
      log.warn('failed to read removals to announce', { error })
    }
  }

  return {
    async announce() {
      if (isClosed) return
      waiting ??= runInOrder(() => {
        waiting = undefined
        return publishGrown()
      })
      await waiting
    },
    async close() {
      isClosed = true
      await waiting
      await runInOrder(async () => {})
    },
  }
}
