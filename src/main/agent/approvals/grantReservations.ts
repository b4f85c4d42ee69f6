import type { GrantRepository } from './grantRepository.ts'
import { fittingGrant } from './grants.ts'
import type { Reservations } from './reservations.ts'

type Options = { grants: GrantRepository; now: () => number }

/** A grant holds a number of times, or until a time. What the person or a rule allowed uses none of it up. */
export function grantReservations({ grants, now }: Options): Reservations {
  return {
    reserve(use) {
      if (use.by !== 'grant') return undefined
      const nowMs = now()
      const grant = fittingGrant(grants.holding(nowMs), use)
      if (grant && grants.reserve(grant.id, use.id, nowMs)) return undefined
      return { effect: 'ask', detail: 'This is no longer approved in advance.' }
    },
    commit: grants.commit,
    giveBack: grants.giveBack,
  }
}
