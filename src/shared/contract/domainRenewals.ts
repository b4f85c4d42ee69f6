import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { domainLimits } from './domainSearch.ts'
import { DomainParam } from './domains.ts'
import { MicroUsdAmount, PaymentId } from './paymentRecords.ts'
import { defineRoute } from './route.ts'

/**
 * Automatic renewal of domains from the wallet before they expire, and expiry notices. Runs on this computer. Payments
 * are subject to the user's limits and approvals. `auto_renew` of a domain is a different feature, of the registrar.
 */

const tag = 'Domains'
const { min, max } = domainLimits.years

/** Range of the lead time of renewals, in days before expiry. */
export const renewalLimits = { daysBefore: { min: 1, max: 90, default: 30 } } as const
/** Remaining days at which a notice is sent, once each. */
export const noticeDays = [60, 30, 14, 7, 1] as const
/** Days that the renewal plan covers. */
export const plannedDays = 90

const range = `must be a whole number from ${renewalLimits.daysBefore.min} to ${renewalLimits.daysBefore.max}`

/** Auto-renew settings of a domain. Amounts are in micro-dollars. */
export const RenewalSettings = z.object({
  enabled: z.boolean(),
  days_before: z
    .int(range)
    .min(renewalLimits.daysBefore.min, range)
    .max(renewalLimits.daysBefore.max, range)
    .default(renewalLimits.daysBefore.default)
    .describe('Number of days before expiry at which the domain is renewed.'),
  years: z.int().min(min, `must be from ${min} to ${max}`).max(max, `must be from ${min} to ${max}`).default(1),
  max_micro_usd: MicroUsdAmount.min(1, 'must be above 0').describe('Maximum price of one renewal, for all its years.'),
})
export type RenewalSettings = z.infer<typeof RenewalSettings>

/** Reason why the last attempt to renew a domain failed. */
export const RenewalProblem = z.object({
  kind: z
    .enum(['wallet', 'locked', 'budget', 'price', 'policy', 'service', 'approval', 'other'])
    .describe(
      'Kind of problem. `approval`: the request was not approved in time. `service`: the service or the registrar did not respond.',
    ),
  detail: z.string().describe('Explanation of the problem and its solution, for the user.'),
})
export type RenewalProblem = z.infer<typeof RenewalProblem>

/** State of a renewal in the current term. */
export const RenewalState = z
  .enum(['off', 'planned', 'blocked', 'asking', 'paying', 'renewed', 'credited', 'declined', 'expired'])
  .describe(
    'State of the renewal. `blocked`: the renewal cannot be paid now; the next attempt is at `next_at`. `asking`: the request awaits a decision in Approvals. `credited`: the payment succeeded, the renewal failed, and the money became credits. `declined`: you denied the request.',
  )
export type RenewalState = z.infer<typeof RenewalState>

/** Auto-renew settings of a domain with the state of its next renewal. */
export const DomainRenewal = RenewalSettings.extend({
  domain: z.string(),
  expires_at: IsoTime,
  renews_at: IsoTime.describe('Time at which the renewal is due.'),
  state: RenewalState,
  problem: RenewalProblem.nullable(),
  next_at: IsoTime.nullable().describe('Time of the next attempt. Null if no automatic attempt is scheduled.'),
  payment_id: PaymentId.nullable().describe('Id of the payment for the current expiry.'),
  estimate_micro_usd: MicroUsdAmount.nullable().describe(
    'Estimated price from the price list. Null if unknown on this computer.',
  ),
})
export type DomainRenewal = z.infer<typeof DomainRenewal>

/** Notice that a domain expires soon. */
export const ExpiryNotice = z.object({
  domain: z.string(),
  expires_at: IsoTime,
  days: z.int().describe('Maximum number of days left before expiry.'),
  notified_at: IsoTime,
})
export type ExpiryNotice = z.infer<typeof ExpiryNotice>

/** Renewal due in the next 90 days. */
export const PlannedRenewal = z.object({
  domain: z.string(),
  at: IsoTime,
  amount_micro_usd: MicroUsdAmount.nullable(),
  problem: z.string().nullable().describe('Reason why the current settings and limits would not pay for the renewal.'),
})
export type PlannedRenewal = z.infer<typeof PlannedRenewal>

/** Renewals, problems and expiry notices of the account on this computer. */
export const DomainRenewals = z.object({
  possible: z.boolean().describe('Whether a wallet that can pay exists.'),
  obstacle: z.string().nullable().describe('Reason why this computer cannot renew domains, and how to fix it.'),
  renewals: z.array(DomainRenewal).describe('Renewals of domains with renewal settings.'),
  missing: z
    .array(z.string())
    .describe('Domains with auto-renew enabled that are not in your account and therefore cannot be renewed.'),
  notices: z.array(ExpiryNotice).describe('Expiry notices that you have not dismissed.'),
  planned: z.object({
    days: z.int(),
    renewals: z.array(PlannedRenewal).describe('Planned renewals, in chronological order.'),
    total_micro_usd: MicroUsdAmount.describe('Total of the renewals whose price is known.'),
    covered: z.boolean().describe('Whether the current settings and limits would pay for all planned renewals.'),
  }),
})
export type DomainRenewals = z.infer<typeof DomainRenewals>

export const listRenewals = defineRoute({
  operation: 'localRenewalList',
  method: 'GET',
  path: '/local/domains/renewals',
  summary: 'List renewals from the wallet, expiry notices and planned payments',
  description: `Returns the last known data while the service is unavailable. \`planned\` covers the next ${plannedDays} days. \`missing\` lists domains with auto-renew that left the account.`,
  tag,
  auth: 'person',
  response: DomainRenewals,
})

const params = z.object({ domain: DomainParam })

export const setRenewal = defineRoute({
  operation: 'localRenewalSet',
  method: 'PUT',
  path: '/local/domains/:domain/renewal',
  summary: 'Set whether and how a domain is renewed from the wallet',
  description:
    'Replaces all settings. If enabled, tries a declined renewal again. Payment limits and policy apply to each renewal. Fails with 404 `domain/not-found`, and with 409 `wallet/absent` if enabled without a wallet.',
  example: { enabled: true, days_before: 30, years: 1, max_micro_usd: 20_000_000 },
  tag,
  auth: 'person',
  refusals: [404, 409, 503],
  params,
  body: RenewalSettings,
  response: DomainRenewal,
})

export const retryRenewal = defineRoute({
  operation: 'localRenewalRetry',
  method: 'POST',
  path: '/local/domains/:domain/renewal/retry',
  summary: 'Retry the renewal of a domain now, if it is due',
  description:
    'Waits for the attempt and returns its outcome. A declined renewal stays declined. An expiry is never paid twice. Fails with 404 `domain/not-found`.',
  example: {},
  tag,
  auth: 'person',
  refusals: [404, 503],
  params,
  body: z.object({}),
  response: DomainRenewal,
})

export const removeRenewal = defineRoute({
  operation: 'localRenewalRemove',
  method: 'DELETE',
  path: '/local/domains/:domain/renewal',
  summary: 'Turn off auto-renew of a domain and delete its settings',
  description:
    'Also works for a domain that left the account. At the next check, withdraws a renewal that awaits approval. A signed payment is not affected. Fails with 404 `domain/not-found` if the domain has no settings.',
  tag,
  auth: 'person',
  refusals: [404],
  params,
  response: z.object({ success: z.literal(true), domain: z.string() }),
})

export const dismissNotices = defineRoute({
  operation: 'localNoticesDismiss',
  method: 'POST',
  path: '/local/domains/notices/dismiss',
  summary: 'Dismiss all current expiry notices',
  description: `A domain gets another notice at the next of ${noticeDays.join(', ')} days before expiry. A repeated call is safe.`,
  example: {},
  tag,
  auth: 'person',
  body: z.object({}),
  response: z.object({ success: z.literal(true) }),
})
