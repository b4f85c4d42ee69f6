import type { ServiceGround } from '../serviceGround.ts'
import { removedThingRepository } from './removedThingRepository.ts'

/** Returns a function that publishes `things.removed` to each account with removals since its last call. */
export function removedThingAnnouncer({ database, events }: Pick<ServiceGround, 'database' | 'events'>): () => void {
  const records = removedThingRepository(database)
  let through = 0
  for (const { sequence } of records.grown(0)) through = Math.max(through, sequence)
  return () => {
    for (const { accountId, sequence } of records.grown(through)) {
      through = Math.max(through, sequence)
      events.publish(accountId, { type: 'things.removed', sequence })
    }
  }
}
