import { type AccountRequest, decideAccountRequest, listAccountRequests } from '#shared/contract/accountRequests.ts'
import { toIsoTime } from '#shared/time.ts'
import { createEndpoint, type Endpoint } from '../base/endpoint.ts'
import type { AccountRequestRecord } from './accountRequestRepository.ts'
import type { AccountRequests } from './accountRequests.ts'

export function createAccountRequestRoutes(requests: AccountRequests): Endpoint[] {
  return [
    createEndpoint(listAccountRequests, async ({ query }) => {
      const listed = (await requests.list(query.limit)).map(toWire)
      return { requests: listed, count: listed.length }
    }),
    createEndpoint(decideAccountRequest, async ({ params, body }) =>
      toWire(await requests.decide(params.id, body.allow)),
    ),
  ]
}

function toWire({ id, wallet, state, askedAtMs, decidedAtMs }: AccountRequestRecord): AccountRequest {
  return {
    id,
    wallet_address: wallet.address,
    wallet_type: wallet.type,
    state,
    asked_at: toIsoTime(askedAtMs),
    decided_at: decidedAtMs === null ? null : toIsoTime(decidedAtMs),
  }
}
