import type { PrincipalId } from '#platform/access/principals.ts'
import { AppError } from '#shared/appError.ts'
import type { Grant } from '#shared/contract/intents.ts'
import { type AgentPrincipals, getPrincipalKind } from '../base/agentPrincipals.ts'
import type { ApprovalActivity } from './approvalActivity.ts'
import { listGrantTargets } from './grants.ts'
import type { IntentLifecycle, TimelineActor } from './intentLifecycle.ts'
import { createRequesterLeases } from './requesterLeases.ts'

/** Grants that end with their requester, account or target, or when the user revokes them. */
export type LeasedGrants = {
  /** Takes leases for stored grants. */
  start(): void
  /** Takes leases for a newly stored grant. */
  add(grant: Grant): void
  /** @throws AppError `grant/not-found` */
  revoke(id: string): void
  /** Ends the grants of tool calls for a removed target. */
  endFor(target: string): void
  close(): void
}

type Options = {
  grants: { holding(): Grant[]; remove(id: string): boolean }
  lifecycle: Pick<IntentLifecycle, 'subscribe' | 'inState' | 'apply'>
  principals: Pick<AgentPrincipals, 'lease'>
  activity: Pick<ApprovalActivity, 'grantRevoked' | 'grantEnded'>
  onChanged: () => void
  now: () => number
}

export function createLeasedGrants({ grants, lifecycle, principals, activity, onChanged, now }: Options): LeasedGrants {
  const leases = createRequesterLeases({
    ...{ principals, lifecycle, grants, now },
    endRequest: (id, principal, { message: error }) =>
      void lifecycle.apply(id, 'revoke', { decision: null, error, actor: toEndingActor(principal) }),
    endGrant(grant, principal) {
      leases.removeGrant(grant.id)
      if (!grants.remove(grant.id)) return // already deleted with its account
      activity.grantEnded(grant, toEndingActor(principal))
      onChanged()
    },
  })

  return {
    start: leases.start,
    add: leases.addGrant,
    revoke(id) {
      if (!grants.remove(id)) throw new AppError('grant/not-found', `There is no grant \`${id.slice(0, 64)}\`.`)
      leases.removeGrant(id)
      activity.grantRevoked(id)
      onChanged()
    },
    endFor(target) {
      for (const grant of grants.holding()) {
        if (!listGrantTargets(grant).includes(target) || !grants.remove(grant.id)) continue
        leases.removeGrant(grant.id)
        activity.grantEnded(grant, { kind: 'system', name: 'Steward' })
        onChanged()
      }
    },
    close: leases.close,
  }
}

/**
 * Returns the actor that ended a principal. Tool clients, chats and accounts are ended only by the user in this window.
 * The service ends keys and sign-ins, and its entry names the revoker.
 */
function toEndingActor(principal: PrincipalId): TimelineActor {
  const kind = getPrincipalKind(principal)
  return kind === 'tool' || kind === 'chat' || kind === 'wallet'
    ? { kind: 'person', name: 'You' }
    : { kind: 'system', name: 'Steward' }
}
