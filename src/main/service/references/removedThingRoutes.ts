import { listRemovedThings } from '#shared/contract/removedThings.ts'
import { createEndpoint, type Endpoint } from '../base/endpoint.ts'
import type { RemovedThingRepository } from './removedThingRepository.ts'

export function createRemovedThingRoutes(records: RemovedThingRepository): Endpoint[] {
  return [
    createEndpoint(listRemovedThings, ({ query: { after, limit } }, { caller: { accountId } }) => {
      const listed = records.list(accountId, after, limit + 1)
      return {
        account_id: accountId,
        things: listed.slice(0, limit),
        has_more: listed.length > limit,
        last_sequence: records.lastSequence(accountId),
      }
    }),
  ]
}
