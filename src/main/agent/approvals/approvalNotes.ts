import { createHash } from 'node:crypto'
import type { Grant, IntentRecord, Policy } from '../../../shared/contract/intents.ts'
import type { Note } from '../note.ts'

/** What the log is told of approvals. */
export type ApprovalNotes = {
  asked(record: IntentRecord): void
  /** It was approved, denied, signed, has expired or failed. */
  became(record: IntentRecord): void
  grantAdded(grant: Grant, intentId: string): void
  grantRevoked(id: string): void
  policyChanged(from: Policy, to: Policy): void
  stopSwitched(stopped: boolean, denied: number): void
}

const person = { kind: 'person', name: 'You' } as const
const steward = { kind: 'system', name: 'Steward' } as const

export function approvalNotes(note: Note): ApprovalNotes {
  const ofIntent = (
    record: IntentRecord,
    kind: string,
    entry: { actor: Parameters<Note>[0]['actor']; summary: string },
  ) =>
    note({
      kind,
      ...entry,
      subject: record.id,
      detail: {
        intent_id: record.id,
        intent_kind: record.kind,
        asker: record.asker.id,
        account: record.address,
        host: record.host,
        amount_micro_usd: record.amount_micro_usd,
        decided_by: record.decision?.by ?? null,
        ...(record.error !== null && { reason: record.error }),
        ...(record.result && { signature_hash: sha256(record.result.signature) }),
      },
    })
  const decider = ({ decision }: IntentRecord) =>
    decision?.by === 'person' || decision?.by === 'stop' ? person : steward

  return {
    asked(record) {
      const { kind, name } = record.asker
      ofIntent(record, 'intent.asked', { actor: { kind, name }, summary: `${name} asked: ${record.sentence}` })
    },
    became(record) {
      const { state, sentence, decision } = record
      if (state === 'waiting') return
      const actor = state === 'approved' || state === 'denied' ? decider(record) : steward
      const why = decision ? ` ${decision.detail}` : ''
      const summary = {
        approved: `Approved: ${sentence}${why}`,
        denied: `Denied: ${sentence}${decision ? why : ` ${record.error ?? ''}`}`,
        expired: `Nobody decided in time: ${sentence}`,
        failed: `Could not be signed: ${sentence} ${record.error ?? ''}`,
        signed: `Signed with ${record.address}: ${sentence}`,
      }[state]
      ofIntent(record, `intent.${state}`, { actor, summary })
    },
    grantAdded(grant, intentId) {
      note({
        kind: 'grant.added',
        actor: person,
        subject: grant.id,
        summary: `Approved in advance: ${grant.kind} for ${grant.asker.name}${grant.host === null ? '' : `, ${grant.host}`}.`,
        detail: {
          grant_id: grant.id,
          intent_id: intentId,
          intent_kind: grant.kind,
          asker: grant.asker.id,
          host: grant.host,
          scope: grant.scope,
          max_amount_micro_usd: grant.max_amount_micro_usd,
          times: grant.times_left,
          until: grant.until,
        },
      })
    },
    grantRevoked(id) {
      note({
        kind: 'grant.revoked',
        actor: person,
        subject: id,
        summary: 'What was approved in advance was revoked.',
        detail: { grant_id: id },
      })
    },
    policyChanged(_, { rules, confirm_above_micro_usd, expiry_minutes }) {
      note({
        kind: 'policy.changed',
        actor: person,
        summary: 'The policy of approvals was changed.',
        detail: { rules: JSON.stringify(rules), confirm_above_micro_usd, expiry_minutes },
      })
    },
    stopSwitched(stopped, denied) {
      note({
        kind: stopped ? 'stop.on' : 'stop.off',
        actor: person,
        summary: stopped ? 'The stop switch was turned on: nothing is signed.' : 'The stop switch was turned off.',
        detail: stopped ? { denied } : {},
      })
    },
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
