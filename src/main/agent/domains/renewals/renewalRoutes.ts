import {
  dismissNotices,
  listRenewals,
  removeRenewal,
  retryRenewal,
  setRenewal,
} from '#shared/contract/domainRenewals.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../../base/localEndpoint.ts'
import type { Renewals } from './renewals.ts'

export function createRenewalRoutes(renewals: Renewals): LocalEndpoint[] {
  return [
    createLocalEndpoint(listRenewals, () => renewals.list()),
    createLocalEndpoint(setRenewal, ({ params, body }) => renewals.set(params.domain, body)),
    createLocalEndpoint(retryRenewal, ({ params }) => renewals.retry(params.domain)),
    createLocalEndpoint(removeRenewal, ({ params: { domain } }) => {
      renewals.remove(domain)
      return { success: true as const, domain }
    }),
    createLocalEndpoint(dismissNotices, () => {
      renewals.dismiss()
      return { success: true as const }
    }),
  ]
}
