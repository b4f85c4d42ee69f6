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

export const RenewalSettings = z.object({
  enabled: z.boolean(),
  days_before: z
    .int(range)
    .min(renewalLimits.daysBefore.min, range)
    .max(renewalLimits.daysBefore.max, range)
    .default(renewalLimits.daysBefore.default)
    .describe('Days before the expiry.'),
  years: z.int().min(min, `must be from ${min} to ${max}`).max(max, `must be from ${min} to ${max}`).default(1),
  max_micro_usd: MicroUsdAmount.min(1, 'must be above 0').describe(
    'The most that one renewal may cost, for all its years.',
  ),
})
export type RenewalSettings = z.infer<typeof RenewalSettings>

export const RenewalProblem = z.object({
  kind: z
    .enum(['wallet', 'locked', 'budget', 'price', 'policy', 'service', 'approval', 'other'])
    .describe('`approval`: the request was not approved in time. `service`: it or the registrar did not answer.'),
  detail: z.string().describe('What happened and what to do, in plain sentences.'),
})
export type RenewalProblem = z.infer<typeof RenewalProblem>

/** State of a renewal in the current term. */
export const RenewalState = z
  .enum(['off', 'planned', 'blocked', 'asking', 'paying', 'renewed', 'credited', 'declined', 'expired'])
  .describe(
    '`blocked`: it cannot be paid now, and is tried again at `next_at`. `asking`: it waits in Approvals. `credited`: it was paid and not renewed, and the money became credits. `declined`: you denied it.',
  )
export type RenewalState = z.infer<typeof RenewalState>

export const DomainRenewal = RenewalSettings.extend({
  domain: z.string(),
  expires_at: IsoTime,
  renews_at: IsoTime.describe('When it is due.'),
  state: RenewalState,
  problem: RenewalProblem.nullable(),
  next_at: IsoTime.nullable().describe('When it is tried next; null: not by itself.'),
  payment_id: PaymentId.nullable().describe('Of this expiry.'),
  estimate_micro_usd: MicroUsdAmount.nullable().describe('By the list of prices; null: not known here.'),
})
export type DomainRenewal = z.infer<typeof DomainRenewal>

export const ExpiryNotice = z.object({
  domain: z.string(),
  expires_at: IsoTime,
  days: z.int().describe('At most so many days are left.'),
  notified_at: IsoTime,
})
export type ExpiryNotice = z.infer<typeof ExpiryNotice>

/** Renewal due in the next 90 days. */
export const PlannedRenewal = z.object({
  domain: z.string(),
  at: IsoTime,
  amount_micro_usd: MicroUsdAmount.nullable(),
  problem: z.string().nullable().describe('Why the settings and limits of now would not pay it.'),
})
export type PlannedRenewal = z.infer<typeof PlannedRenewal>

export const DomainRenewals = z.object({
  possible: z.boolean().describe('There is a wallet that can pay.'),
  obstacle: z.string().nullable().describe('Why nothing can be renewed from here, and what to do.'),
  renewals: z.array(DomainRenewal).describe('Of domains for which something was set.'),
  missing: z
    .array(z.string())
    .describe('Domains with auto-renew on that are not in your account, so that nothing renews them.'),
  notices: z.array(ExpiryNotice).describe('Those that you have not dismissed.'),
  planned: z.object({
    days: z.int(),
    renewals: z.array(PlannedRenewal).describe('In order of time.'),
    total_micro_usd: MicroUsdAmount.describe('Of those whose price is known.'),
    covered: z.boolean().describe('Settings and limits of now would pay all of them.'),
  }),
})
export type DomainRenewals = z.infer<typeof DomainRenewals>

export const listRenewals = defineRoute({
  operation: 'localRenewalList',
  method: 'GET',
  path: '/local/domains/renewals',
  summary: 'List renewals from the wallet, expiry notices and planned payments',
  description: `Answers also while the service is unavailable, as last read. \`planned\` covers the next ${plannedDays} days. \`missing\` lists domains with auto-renew that left the account.`,
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
    'Replaces all settings and, if enabled, tries a declined renewal again. Payment limits and policy apply to each renewal. Fails with 404 `domain/not-found`, and with 409 `wallet/absent` if enabled with no wallet.',
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
  summary: 'Try the renewal of a domain again now, if it is due',
  description:
    'Waits for the attempt and returns its outcome. A declined renewal stays declined, and no expiry is paid twice. Fails with 404 `domain/not-found`.',
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
  summary: 'Turn auto-renew of a domain off and delete its settings',
  description:
    'Works also for a domain that left the account. A renewal that waits for approval is withdrawn at the next check; a signed payment is not affected. Fails with 404 `domain/not-found` if nothing is set.',
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
  description: `A domain gets another notice at the next of ${noticeDays.join(', ')} days before its expiry. Can be repeated.`,
  example: {},
  tag,
  auth: 'person',
  body: z.object({}),
  response: z.object({ success: z.literal(true) }),
})
