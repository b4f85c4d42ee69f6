import type { EventHub } from '../events/eventHub.ts'
import type { RemovedThingRepository } from './removedThingRepository.ts'

/** Returns a function that publishes `things.removed` to each account with removals since its last call. */
export function createRemovedThingAnnouncer(
  records: Pick<RemovedThingRepository, 'listGrown'>,
  publish: EventHub['publish'],
): () => void {
  let through = 0
  for (const { sequence } of records.listGrown(0)) through = Math.max(through, sequence)
  return () => {
    for (const { accountId, sequence } of records.listGrown(through)) {
      through = Math.max(through, sequence)
      publish(accountId, { type: 'things.removed', sequence })
    }
  }
}
