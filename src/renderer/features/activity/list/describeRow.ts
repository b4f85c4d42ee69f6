import type { Tone } from '#renderer/ui/StatusDot.tsx'
import type { TimelineEntry } from '#shared/contract/timeline.ts'
import type { TimelineRow } from './timelineItems.ts'

export type RowText = {
  /** Actor, if the sentence starts with one. */
  who: string | undefined
  /** Rest of the sentence. */
  what: string
  outcome: { tone: Tone; words: string } | undefined
}

const outcomes: Readonly<Record<string, RowText['outcome']>> = {
  'intent.asked': { tone: 'accent', words: 'Waiting' },
  'intent.approved': { tone: 'accent', words: 'Approved' },
  'intent.signed': { tone: 'positive', words: 'Signed' },
  'intent.denied': { tone: 'neutral', words: 'Denied' },
  'intent.expired': { tone: 'neutral', words: 'Expired' },
  'intent.failed': { tone: 'negative', words: 'Failed' },
  'payment.settled': { tone: 'positive', words: 'Paid' },
  'payment.refused': { tone: 'neutral', words: 'Not paid' },
  'payment.unknown': { tone: 'caution', words: 'Outcome unknown' },
  'registration.registered': { tone: 'positive', words: 'Registered' },
  'registration.failed': { tone: 'negative', words: 'Failed' },
}

/** Describes a row. A request is described by its effect, or else by its first entry, and by its outcome. */
export function describeRow({ entries, isRequest, lead, state }: TimelineRow): RowText {
  const [newest] = entries
  if (!isRequest) return { ...splitSentence(lead ?? newest), outcome: undefined }
  const subject = lead ?? entries.find(({ kind }) => kind === 'intent.asked') ?? newest
  const payment = entries.find(({ kind }) => kind.startsWith('payment.'))
  const last = payment
    ? describePaymentKind(payment)
    : (state ?? entries.find(({ kind }) => Object.hasOwn(outcomes, kind))?.kind)
  return {
    ...splitSentence(subject),
    outcome: last !== undefined && Object.hasOwn(outcomes, last) ? outcomes[last] : undefined,
  }
}

/** Returns the kind by which a payment is described. A payment reconciled later is described by its final result. */
function describePaymentKind({ kind, detail }: TimelineEntry): string {
  if (kind !== 'payment.reconciled') return kind
  return detail.paid === true ? 'payment.settled' : 'payment.refused'
}

function splitSentence(entry: TimelineEntry): Pick<RowText, 'who' | 'what'> {
  const { actor, summary } = entry
  const words = summary.replace(/\.$/, '')
  const begins = actor.name !== '' && words.startsWith(`${actor.name} `)
  return begins ? { who: formatActor(entry), what: words.slice(actor.name.length) } : { who: undefined, what: words }
}

/**
 * Formats the actor of an entry. Earlier versions recorded actions of programs and chats in the service as the user's.
 * Hashed entries cannot change, so their task names the requester.
 */
export function formatActor({ actor, task, detail }: Pick<TimelineEntry, 'actor' | 'task' | 'detail'>): string {
  if (actor.kind !== 'person' || detail.service_id === undefined) return actor.name
  if (task?.startsWith('call:')) return `${actor.name} (by a program)`
  return task?.startsWith('chat:') ? `${actor.name} (by a chat)` : actor.name
}

const deciders: Readonly<Record<string, string>> = {
  person: 'You',
  policy: 'Your policy',
  grant: 'A remembered approval',
  stop: 'The stop switch',
  steward: 'Steward (built in)',
}

export function describeStep({ kind, actor, summary, detail }: TimelineEntry): string {
  const decider = deciders[String(detail.decided_by)]
  switch (kind) {
    case 'intent.asked':
      return `Requested by ${actor.name}`
    case 'intent.approved':
      return `${decider ?? actor.name} approved it`
    case 'intent.denied':
      return `${decider ?? actor.name} denied it`
    case 'intent.signed':
      return 'Signed'
    case 'intent.expired':
      return 'Expired without a decision'
    case 'intent.failed':
      return `Failed${typeof detail.reason === 'string' ? `: ${detail.reason}` : ''}`
    default:
      return summary
  }
}

export function describeDecider(by: unknown): string {
  return deciders[String(by)] ?? String(by)
}
