import type { GrantRepository } from './grantRepository.ts'
import { findMatchingGrant } from './grants.ts'
import type { Reservations } from './reservations.ts'

type Options = { grants: GrantRepository; now: () => number }

/**
 * Creates reservations of grants, which are limited by number of uses or by time. Intents allowed by the user or a rule
 * do not consume a grant.
 */
export function createGrantReservations({ grants, now }: Options): Reservations {
  return {
    reserve(use) {
      if (use.by !== 'grant') return undefined
      const nowMs = now()
      const grant = findMatchingGrant(grants.holding(nowMs), use)
      if (grant && grants.reserve(grant.id, use.id, nowMs)) return undefined
      return { effect: 'ask', detail: 'This is no longer approved in advance.' }
    },
    commit: grants.commit,
    giveBack: grants.giveBack,
  }
}
