import type { Asker, IntentRecord, Policy } from '../../../shared/contract/intents.ts'
import { isoTime } from '../../../shared/time.ts'
import type { PreparedIntent } from '../signer/signer.ts'
import { scopeOf } from './intentScope.ts'
import { amountOf, isAbove, type Judged, type Verdict } from './judge.ts'

const minuteMs = 60_000

type Asked = { id: string; prepared: PreparedIntent; asker: Asker; reason: string | undefined }

/** The record of an intent that waits, before anything was decided. */
export function newRecord({ id, prepared, asker, reason }: Asked, policy: Policy, nowMs: number): IntentRecord {
  const { intent, account, sentence, fields, raw, host, amountMicroUsd } = prepared
  return {
    id,
    kind: intent.kind,
    state: 'waiting',
    asker,
    reason: reason === undefined || reason === '' ? null : reason,
    account_id: account.id,
    address: account.address,
    sentence,
    fields,
    raw,
    host,
    scope: scopeOf(intent),
    amount_micro_usd: amountMicroUsd === null ? null : String(amountMicroUsd),
    needs_confirmation: isAbove(amountMicroUsd, policy.confirm_above_micro_usd),
    created_at: isoTime(nowMs),
    expires_at: isoTime(expiryMs(prepared, policy, nowMs)),
    decision: null,
    result: null,
    error: null,
  }
}

export function judgedOf(record: IntentRecord): Judged {
  const { kind, asker, host, scope, account_id: accountId } = record
  return { kind, asker, host, scope, accountId, amountMicroUsd: amountOf(record) }
}

/** What became of a record that waits; what is allowed while the wallet is locked waits for it to be unlocked. */
export function judged(record: IntentRecord, verdict: Verdict, given: { unlocked: boolean; at: string }): IntentRecord {
  if (verdict.effect === 'ask') return { ...record, decision: null }
  const { by, detail } = verdict
  const decision = { by, detail, at: given.at }
  if (verdict.effect === 'deny') return { ...record, state: 'denied', decision, error: detail }
  if (given.unlocked) return { ...record, state: 'approved', decision }
  return { ...record, decision: { ...decision, detail: `${detail} It will be signed when you unlock the wallet.` } }
}

/** Whether it is still what was shown, word by word. */
export function isSame(record: IntentRecord, { account, sentence, raw }: PreparedIntent): boolean {
  const sameAccount = account.id === record.account_id && account.address === record.address
  return sameAccount && sentence === record.sentence && raw === record.raw
}

/** A sign-in that says itself how long it holds waits no longer than that. */
function expiryMs({ intent }: PreparedIntent, { expiry_minutes: minutes }: Policy, nowMs: number): number {
  const usual = nowMs + minutes * minuteMs
  const own = 'expiration_time' in intent ? intent.expiration_time : undefined
  const ownMs = own === undefined ? usual : Date.parse(own)
  return ownMs > nowMs ? Math.min(usual, ownMs) : usual
}
