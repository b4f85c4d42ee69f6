import { createHash } from 'node:crypto'
import type { Grant, IntentRecord, Policy } from '../../../shared/contract/intents.ts'
import { shortAddress } from '../../../shared/shortAddress.ts'
import type { Note } from '../note.ts'
import { kindWords, policyWords } from './policyWords.ts'

/** What the log is told of approvals. */
export type ApprovalNotes = {
  asked(record: IntentRecord): void
  /** It was approved, denied, signed, has expired or failed. */
  became(record: IntentRecord): void
  grantAdded(grant: Grant, intentId: string): void
  grantRevoked(id: string): void
  policyChanged(before: Policy, after: Policy): void
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
        asker_name: record.asker.name,
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
      const isPersons = decision?.by === 'person'
      const why = decision ? decision.detail : (record.error ?? '')
      const summary = {
        approved: isPersons ? `You approved: ${sentence}` : `Approved: ${joined(sentence, why)}`,
        denied: isPersons ? `You denied: ${sentence}` : `Denied: ${joined(sentence, why)}`,
        expired: `Expired without a decision: ${sentence}`,
        failed: `Could not be signed: ${joined(sentence, record.error ?? '')}`,
        signed: `Signed with ${shortAddress(record.address)}: ${sentence}`,
      }[state]
      ofIntent(record, `intent.${state}`, { actor, summary })
    },
    grantAdded(grant, intentId) {
      note({
        kind: 'grant.added',
        actor: person,
        subject: grant.id,
        summary: `You pre-approved ${kindWords[grant.kind]} by ${grant.asker.name}${grant.host === null ? '' : ` at ${grant.host}`}.`,
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
        summary: 'You revoked a remembered approval.',
        detail: { grant_id: id },
      })
    },
    policyChanged(before, after) {
      const { rules, confirm_above_micro_usd, expiry_minutes } = after
      note({
        kind: 'policy.changed',
        actor: person,
        summary: changeSentence(before, after),
        detail: { rules: JSON.stringify(rules), confirm_above_micro_usd, expiry_minutes },
      })
    },
    stopSwitched(stopped, denied) {
      note({
        kind: stopped ? 'stop.on' : 'stop.off',
        actor: person,
        summary: stopped ? 'You stopped signing.' : 'You resumed signing.',
        detail: stopped ? { denied } : {},
      })
    },
  }
}

/** More changes than this are in the detail alone. */
const toldChanges = 3

function changeSentence(before: Policy, after: Policy): string {
  const changes = policyWords(before, after).lines.map(({ label, value }) => `${label.toLowerCase()}: ${value}`)
  const expiry =
    before.expiry_minutes === after.expiry_minutes ? [] : [`requests expire after ${after.expiry_minutes} min`]
  const all = [...changes, ...expiry]
  const told = all.slice(0, toldChanges).join('; ')
  const more = all.length > toldChanges ? `; ${all.length - toldChanges} more` : ''
  return told === '' ? 'You changed your policies.' : `You changed your policies: ${told}${more}.`
}

/** Two sentences, the first of which may have no end. */
function joined(first: string, second: string): string {
  return second === '' ? first : `${/[.!?]$/.test(first) ? first : `${first}.`} ${second}`
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
