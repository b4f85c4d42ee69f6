import {
  dismissNotices,
  listRenewals,
  removeRenewal,
  retryRenewal,
  setRenewal,
} from '#shared/contract/domainRenewals.ts'
import { type LocalEndpoint, localEndpoint } from '../../base/localEndpoint.ts'
import type { Renewals } from './renewals.ts'

export function createRenewalRoutes(renewals: Renewals): LocalEndpoint[] {
  return [
    localEndpoint(listRenewals, () => renewals.list()),
    localEndpoint(setRenewal, ({ params, body }) => renewals.set(params.domain, body)),
    localEndpoint(retryRenewal, ({ params }) => renewals.retry(params.domain)),
    localEndpoint(removeRenewal, ({ params: { domain } }) => {
      renewals.remove(domain)
      return { success: true as const, domain }
    }),
    localEndpoint(dismissNotices, () => {
      renewals.dismiss()
      return { success: true as const }
    }),
  ]
}
