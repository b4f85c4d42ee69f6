import type { Lease, PrincipalId } from '#platform/access/principals.ts'
import type { Grant, IntentRecord } from '#shared/contract/intents.ts'
import {
  type AgentPrincipals,
  type PrincipalRights,
  toRequesterPrincipal,
  toWalletPrincipal,
} from '../base/agentPrincipals.ts'
import type { GrantRepository } from './grantRepository.ts'
import type { IntentLifecycle } from './intentLifecycle.ts'
import { isOpen } from './intentStates.ts'

/** Ends requests and remembered approvals together with their requester or account. */
export type RequesterLeases = {
  /** Takes leases for stored requests and grants. Those without a requester or account end immediately. */
  start(): void
  addGrant(grant: Grant): void
  removeGrant(id: string): void
  close(): void
}

type Options = {
  principals: Pick<AgentPrincipals, 'lease'>
  lifecycle: Pick<IntentLifecycle, 'subscribe' | 'inState'>
  grants: Pick<GrantRepository, 'holding'>
  endRequest: (id: string, principal: PrincipalId, error: Error) => void
  endGrant: (grant: Grant, principal: PrincipalId) => void
  now: () => number
}

export function createRequesterLeases(options: Options): RequesterLeases {
  const { principals, lifecycle, grants, endRequest, endGrant, now } = options
  const requests = new Map<string, readonly Lease<PrincipalRights>[]>()
  const granted = new Map<string, readonly Lease<PrincipalRights>[]>()

  const release = (leases: Map<string, readonly Lease<PrincipalRights>[]>, id: string): void => {
    for (const lease of leases.get(id) ?? []) lease.release()
    leases.delete(id)
  }
  const take = (
    { requester, account_id: account }: Pick<IntentRecord, 'requester' | 'account_id'>,
    holder: 'request' | 'grant',
    onEnd: (principal: PrincipalId, error: Error) => void,
  ): readonly Lease<PrincipalRights>[] =>
    [toRequesterPrincipal(requester), toWalletPrincipal(account)].map((principal) => {
      const lease = principals.lease(principal, holder)
      const end = (): void => onEnd(principal, lease.signal.reason)
      if (lease.signal.aborted) end()
      else lease.signal.addEventListener('abort', end, { once: true })
      return lease
    })
  const addRequest = (record: IntentRecord): void => {
    if (requests.has(record.id)) return
    requests.set(record.id, [])
    const leases = take(record, 'request', (principal, error) => endRequest(record.id, principal, error))
    if (requests.has(record.id)) requests.set(record.id, leases)
    else for (const lease of leases) lease.release() // ended immediately
  }
  const addGrant = (grant: Grant): void => {
    granted.set(grant.id, [])
    const leases = take(grant, 'grant', (principal) => endGrant(grant, principal))
    if (granted.has(grant.id)) granted.set(grant.id, leases)
    else for (const lease of leases) lease.release()
  }
  const unsubscribe = lifecycle.subscribe(({ record }) => {
    if (isOpen(record.state)) addRequest(record)
    else release(requests, record.id)
  })

  return {
    start() {
      for (const record of [...lifecycle.inState('waiting'), ...lifecycle.inState('approved')]) addRequest(record)
      for (const grant of grants.holding(now())) addGrant(grant)
    },
    addGrant,
    removeGrant: (id) => release(granted, id),
    close() {
      unsubscribe()
      for (const id of [...requests.keys()]) release(requests, id)
      for (const id of [...granted.keys()]) release(granted, id)
    },
  }
}
