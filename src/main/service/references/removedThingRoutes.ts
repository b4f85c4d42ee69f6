import { listRemovedThings } from '#shared/contract/removedThings.ts'
import type { Query } from '#storage/store.ts'
import { createEndpoint, type Endpoint } from '../base/endpoint.ts'
import { removedThingRepository } from './removedThingRepository.ts'

export function createRemovedThingRoutes(read: Query): Endpoint[] {
  return [
    createEndpoint(listRemovedThings, async ({ query: { after, limit } }, { caller: { accountId } }) => {
      const listed = await removedThingRepository.list(read, accountId, { after, limit: limit + 1 })
      return {
        account_id: accountId,
        things: listed.slice(0, limit),
        has_more: listed.length > limit,
        last_sequence: await removedThingRepository.getLastSequence(read, accountId),
      }
    }),
  ]
}
