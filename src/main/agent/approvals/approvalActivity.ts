import { createHash } from 'node:crypto'
import type { Grant, IntentRecord, Policy } from '#shared/contract/intents.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import { person, steward } from '../base/actors.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import { describePolicyChange } from './describeConfirmation.ts'
import type { TimelineActor } from './intentLifecycle.ts'

export type ApprovalActivity = {
  recordSubmitted(record: IntentRecord): void
  /**
   * Records that the intent was approved, denied, signed, expired or failed.
   * @param by defaults to the decider of the intent
   */
  became(record: IntentRecord, by?: TimelineActor): void
  grantAdded(grant: Grant, intentId: string): void
  grantRevoked(id: string): void
  /** Records that a remembered approval ended with its requester or account. */
  grantEnded(grant: Grant, by: TimelineActor): void
  policyChanged(before: Policy, after: Policy): void
  stopSwitched(stopped: boolean, denied: number): void
}

export function createApprovalActivity(recordActivity: RecordActivity): ApprovalActivity {
  return {
    ...createIntentActivity(recordActivity),
    ...createGrantActivity(recordActivity),
    policyChanged(before, after) {
      const { rules, confirm_above_micro_usd, expiry_minutes } = after
      recordActivity({
        kind: 'policy.changed',
        actor: person,
        summary: describePolicyChange(before, after),
        detail: { rules: JSON.stringify(rules), confirm_above_micro_usd, expiry_minutes },
      })
    },
    stopSwitched(stopped, denied) {
      recordActivity({
        kind: stopped ? 'stop.on' : 'stop.off',
        actor: person,
        summary: stopped ? 'You stopped everything.' : 'You resumed.',
        detail: stopped ? { denied } : {},
      })
    },
  }
}

function createIntentActivity(recordActivity: RecordActivity): Pick<ApprovalActivity, 'recordSubmitted' | 'became'> {
  const recordIntent = (
    record: IntentRecord,
    kind: string,
    entry: { actor: Parameters<RecordActivity>[0]['actor']; summary: string },
  ) =>
    recordActivity({
      kind,
      ...entry,
      subject: record.id,
      links: { intent: record.id },
      detail: {
        intent_id: record.id,
        intent_kind: record.kind,
        requester: record.requester.id,
        asker_name: record.requester.name,
        account: record.address,
        host: record.host,
        amount_micro_usd: record.amount_micro_usd,
        decided_by: record.decision?.by ?? null,
        ...(record.error !== null && { reason: record.error }),
        ...(record.result && { signature_hash: sha256(record.result.signature) }),
      },
    })

  return {
    recordSubmitted(record) {
      const { kind, name } = record.requester
      recordIntent(record, 'intent.asked', {
        actor: { kind, name },
        summary: `${name} asked to ${lowerFirst(record.sentence)}`,
      })
    },
    became(record, by) {
      const { state, sentence, decision } = record
      // Tool calls have no signature and record their own effects.
      if (state === 'waiting' || (state === 'signed' && record.kind === 'tool.call')) return
      const actor = by ?? (state === 'approved' || state === 'denied' ? toDecider(record) : steward)
      const byPerson = decision?.by === 'person'
      const why = decision ? decision.detail : (record.error ?? '')
      const summary = {
        approved: byPerson ? `You approved: ${sentence}` : `Approved: ${joinSentences(sentence, why)}`,
        denied: describeDenial(record, why, by),
        expired: `Expired without a decision: ${sentence}`,
        failed: `${record.kind === 'tool.call' ? 'Not approved' : 'Could not be signed'}: ${joinSentences(sentence, record.error ?? '')}`,
        signed: `Signed with ${shortenAddress(record.address)}: ${sentence}`,
      }[state]
      recordIntent(record, `intent.${state}`, { actor, summary })
    },
  }
}

function toDecider({ decision }: IntentRecord): TimelineActor {
  return decision?.by === 'person' || decision?.by === 'stop' ? person : steward
}

function createGrantActivity(
  recordActivity: RecordActivity,
): Pick<ApprovalActivity, 'grantAdded' | 'grantRevoked' | 'grantEnded'> {
  return {
    grantAdded(grant, intentId) {
      recordActivity({
        kind: 'grant.added',
        actor: person,
        subject: grant.id,
        summary: describeGrant(grant),
        links: { intent: intentId },
        detail: {
          grant_id: grant.id,
          intent_id: intentId,
          intent_kind: grant.kind,
          requester: grant.requester.id,
          host: grant.host,
          scope: grant.scope,
          max_amount_micro_usd: grant.max_amount_micro_usd,
          times: grant.times_left,
          until: grant.until,
        },
      })
    },
    grantRevoked(id) {
      recordActivity({
        kind: 'grant.revoked',
        actor: person,
        subject: id,
        summary: 'You revoked a remembered approval.',
        detail: { grant_id: id },
      })
    },
    grantEnded(grant, actor) {
      recordActivity({
        kind: 'grant.revoked',
        actor,
        subject: grant.id,
        summary: `The remembered approval of ${grant.requester.kind === 'person' ? 'yours' : grant.requester.name} ended.`,
        detail: { grant_id: grant.id, asker: grant.requester.id },
      })
    },
  }
}

const grantedKinds: Partial<Record<Grant['kind'], { deed: string; to: string }>> = {
  'x402.authorize': { deed: 'payments', to: 'at' },
  siwe: { deed: 'sign-ins', to: 'to' },
  siws: { deed: 'sign-ins', to: 'to' },
  'tool.call': { deed: 'tool calls', to: 'at' },
}

/** Describes a grant: `You pre-approved payments by research-agent at shop.example.` */
function describeGrant({ kind, requester, host }: Grant): string {
  const { deed, to } = grantedKinds[kind] ?? { deed: 'requests', to: 'for' }
  const name = requester.kind === 'person' ? 'you' : requester.name
  return `You pre-approved ${deed} by ${name}${host === null ? '' : ` ${to} ${host}`}.`
}

function describeDenial(
  { sentence, decision, error, requester }: IntentRecord,
  why: string,
  by?: TimelineActor,
): string {
  const isOwn = by?.kind === requester.kind && by.name === requester.name
  if (decision === null) return `Withdrawn: ${isOwn ? sentence : joinSentences(sentence, error ?? '')}`
  return decision.by === 'person' ? `You denied: ${sentence}` : `Denied: ${joinSentences(sentence, why)}`
}

function lowerFirst(sentence: string): string {
  return sentence.slice(0, 1).toLowerCase() + sentence.slice(1)
}

/** Joins two sentences, adding a period to the first one if necessary. */
function joinSentences(first: string, second: string): string {
  return second === '' ? first : `${/[.!?]$/.test(first) ? first : `${first}.`} ${second}`
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
