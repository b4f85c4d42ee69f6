import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'
import { ChainType } from './wallet.ts'

/** Limits of account requests by wallets that sign in for the first time. */
export const accountRequestLimits = {
  /** Pending requests. Above this, wallets must retry later. */
  waiting: 20,
  /** Burst of new requests, and the number per hour. */
  perHour: 20,
  /** Number of stored decisions. The oldest are removed. */
  decided: 1000,
  /** Time to live of an undecided request: one week. */
  waitingMs: 7 * 24 * 60 * 60_000,
  /** Time before a denied wallet may request again: 90 days. */
  decidedMs: 90 * 24 * 60 * 60_000,
  listed: { min: 1, max: 1000, default: 100 },
} as const

/** Wallet that signed in without an account. */
export const AccountRequest = z.object({
  id: z.string(),
  wallet_address: z.string(),
  wallet_type: ChainType,
  state: z.enum(['waiting', 'allowed', 'denied']),
  asked_at: IsoTime,
  decided_at: IsoTime.nullable(),
})
export type AccountRequest = z.infer<typeof AccountRequest>

const { min, max, default: defaultLimit } = accountRequestLimits.listed
const dayMs = 24 * 60 * 60_000
const inRange = `must be a whole number from ${min} to ${max}`

export const listAccountRequests = defineRoute({
  operation: 'accountRequestList',
  method: 'GET',
  path: '/v1/auth/account-requests',
  summary: 'List account requests of wallets, pending ones first',
  description: `Lists each group newest first. Each sign-in of an unknown wallet removes requests older than ${accountRequestLimits.waitingMs / dayMs} days and decisions older than ${accountRequestLimits.decidedMs / dayMs} days.`,
  tag: 'Accounts',
  auth: 'owner',
  query: z.object({
    limit: z.coerce.number(inRange).int(inRange).min(min, inRange).max(max, inRange).default(defaultLimit),
  }),
  response: z.object({ requests: z.array(AccountRequest), count: z.int() }),
})

export const decideAccountRequest = defineRoute({
  operation: 'accountRequestDecide',
  method: 'POST',
  path: '/v1/auth/account-requests/:id',
  summary: 'Allow or deny the account request of a wallet',
  description:
    'Only the Steward window can call this route; API keys cannot, including the owner’s. A denied wallet can still be allowed later.',
  example: { allow: true },
  tag: 'Accounts',
  auth: 'person',
  refusals: [409],
  params: z.object({ id: z.string().min(1) }),
  body: z.object({ allow: z.boolean('must be true or false') }),
  response: AccountRequest,
})
