import type { Intent, IntentRecord, Policy, Requester } from '#shared/contract/intents.ts'
import { normalizeAddress } from '#shared/contract/networks.ts'
import { toIsoTime } from '#shared/time.ts'
import type { PreparedIntent } from '../signer/signer.ts'
import { isAbove } from './toPolicyInput.ts'

const minuteMs = 60_000

type RecordOptions = {
  id: string
  prepared: PreparedIntent
  requester: Requester
  reason: string | undefined
  purchase?: string | undefined
}

export function createIntentRecord(
  { id, prepared, requester, reason, purchase }: RecordOptions,
  policy: Policy,
  nowMs: number,
): IntentRecord {
  const { intent, account, sentence, fields, raw, host, amountMicroUsd } = prepared
  return {
    id,
    kind: intent.kind,
    state: 'waiting',
    requester,
    reason: reason === undefined || reason === '' ? null : reason,
    account_id: account.id,
    address: account.address,
    sentence,
    fields,
    raw,
    host,
    scope: readScope(intent),
    path: readPath(intent),
    amount_micro_usd: amountMicroUsd === null ? null : String(amountMicroUsd),
    purchase: purchase ?? null,
    needs_confirmation: isAbove(amountMicroUsd, policy.confirm_above_micro_usd),
    created_at: toIsoTime(nowMs),
    expires_at: toIsoTime(getExpiryMs(prepared, policy, nowMs)),
    decision: null,
    result: null,
    error: null,
  }
}

/** Whether the prepared intent matches the shown record exactly. */
export function isSameIntent(record: IntentRecord, { account, sentence, raw }: PreparedIntent): boolean {
  const sameAccount = account.id === record.account_id && account.address === record.address
  return sameAccount && sentence === record.sentence && raw === record.raw
}

/**
 * Returns the scope that a grant must match besides the requester's identity: payee and network of a payment (CAIP-10),
 * chain of a sign-in (CAIP-2), or tool and target. Expects a prepared intent, whose network is normalized.
 * @see https://chainagnostic.org/CAIPs/caip-10
 */
function readScope(intent: Intent): string | null {
  if (intent.kind === 'x402.authorize') return `${intent.network}:${normalizeAddress(intent.pay_to)}`
  if (intent.kind === 'tool.call') return `${intent.tool} ${intent.target}`
  if (intent.kind === 'siwe') return `eip155:${intent.chain_id}`
  if (intent.kind === 'siws') return `solana:${intent.chain_id.replace(/^solana:/, '')}`
  return null
}

/** Returns the path of the resource that a payment buys, without its query. */
function readPath(intent: Intent): string | null {
  return intent.kind === 'x402.authorize' ? (URL.parse(intent.resource)?.pathname ?? null) : null
}

/** Returns the deadline. A sign-in with an expiration time waits no longer than that time. */
function getExpiryMs({ intent }: PreparedIntent, { expiry_minutes: minutes }: Policy, nowMs: number): number {
  const defaultExpiry = nowMs + minutes * minuteMs
  const requestedExpiry = 'expiration_time' in intent ? intent.expiration_time : undefined
  const ownMs = requestedExpiry === undefined ? defaultExpiry : Date.parse(requestedExpiry)
  return ownMs > nowMs ? Math.min(defaultExpiry, ownMs) : defaultExpiry
}
