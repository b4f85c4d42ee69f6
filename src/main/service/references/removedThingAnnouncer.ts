import type { EventHub } from '../events/eventHub.ts'
import type { RemovedThingRepository } from './removedThingRepository.ts'

/** Returns a function that publishes `things.removed` to each account with removals since its last call. */
export function removedThingAnnouncer(
  records: Pick<RemovedThingRepository, 'grown'>,
  publish: EventHub['publish'],
): () => void {
  let through = 0
  for (const { sequence } of records.grown(0)) through = Math.max(through, sequence)
  return () => {
    for (const { accountId, sequence } of records.grown(through)) {
      through = Math.max(through, sequence)
      publish(accountId, { type: 'things.removed', sequence })
    }
  }
}
