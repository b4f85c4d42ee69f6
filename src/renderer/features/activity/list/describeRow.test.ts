import { expect, test } from 'vitest'
import type { TimelineEntry } from '#shared/contract/timeline.ts'
import { describeDecider, describeRow, describeStep } from './describeRow.ts'
import { groupRows } from './timelineItems.ts'

const program = { kind: 'client', name: 'research-agent' } as const
const you = { kind: 'person', name: 'You' } as const
const entry = (fields: Partial<TimelineEntry>): TimelineEntry => ({
  sequence: 1,
  at: '2026-01-01T00:00:00.000Z',
  kind: 'command.run',
  actor: program,
  subject: null,
  summary: '',
  detail: {},
  task: null,
  links: {},
  previous_hash: '',
  hash: '',
  problem: null,
  ...fields,
})
const onlyRow = (...entries: TimelineEntry[]) => {
  const [row, ...others] = groupRows(entries)
  if (!row || others.length > 0) throw new Error('They are one row.')
  return describeRow(row)
}

test('separates the actor from the action', () => {
  expect(onlyRow(entry({ summary: 'research-agent ran “npm test” in atlas: exit code 0.' }))).toEqual({
    who: 'research-agent',
    what: ' ran “npm test” in atlas: exit code 0',
    outcome: undefined,
  })
  const service = { kind: 'service', name: 'This computer' } as const
  expect(onlyRow(entry({ actor: service, summary: 'atlas stopped after 5 minutes without use.' }))).toEqual({
    who: undefined,
    what: 'atlas stopped after 5 minutes without use',
    outcome: undefined,
  })
})

const requested = entry({ sequence: 1, kind: 'intent.asked', subject: 'i', summary: 'research-agent asked to pay $1.' })
const approved = entry({
  sequence: 2,
  kind: 'intent.approved',
  subject: 'i',
  actor: you,
  summary: 'You approved: pay $1.',
  detail: { decided_by: 'person' },
})
const signed = entry({ sequence: 3, kind: 'intent.signed', subject: 'i', summary: 'Signed with 0x1: pay $1.' })

test('describes a request by its start and its outcome', () => {
  expect(onlyRow(requested)).toMatchObject({ what: ' asked to pay $1', outcome: { words: 'Waiting' } })
  expect(onlyRow(signed, approved, requested)).toEqual({
    who: 'research-agent',
    what: ' asked to pay $1',
    outcome: { tone: 'positive', words: 'Signed' },
  })
  expect([requested, approved, signed].map(describeStep)).toEqual([
    'Requested by research-agent',
    'You approved it',
    'Signed',
  ])
})

test('a purchase is described by its effect and whether it was paid', () => {
  const purchase = { task: 'action:1', links: { intent: 'i' } }
  const bought = entry({
    sequence: 4,
    kind: 'domain.registered',
    task: 'action:1',
    summary: 'You registered a.com.',
    actor: you,
  })
  const paid = entry({ sequence: 5, kind: 'payment.settled', ...purchase, summary: 'Register a.com: paid.' })
  const steps = [signed, approved, requested].map((it) => ({ ...it, task: 'action:1' }))
  expect(onlyRow(paid, bought, ...steps)).toEqual({
    who: 'You',
    what: ' registered a.com',
    outcome: { tone: 'positive', words: 'Paid' },
  })
  const unclear = entry({ sequence: 5, kind: 'payment.unknown', ...purchase })
  expect(onlyRow(unclear, ...steps)).toMatchObject({
    what: ' asked to pay $1',
    outcome: { tone: 'caution', words: 'Outcome unknown' },
  })
  const late = entry({ sequence: 6, kind: 'payment.reconciled', ...purchase, detail: { paid: false } })
  expect(onlyRow(late, unclear, ...steps).outcome).toEqual({ tone: 'neutral', words: 'Not paid' })
})

test('describes a request by a later entry until its start is loaded', () => {
  expect(onlyRow(signed)).toMatchObject({ what: 'Signed with 0x1: pay $1', outcome: { words: 'Signed' } })
})

test('shows the state of a request when a filter hides its outcome', () => {
  const request = entry({ kind: 'intent.asked', subject: 'int_1', summary: 'research-agent asked to pay' })
  const [row] = groupRows([request], { int_1: 'intent.denied' })
  expect(row && describeRow(row).outcome).toEqual({ tone: 'neutral', words: 'Denied' })
})

test('shows the requester of entries that earlier versions recorded as the user’s', () => {
  const old = (task: string | null) =>
    onlyRow(entry({ actor: you, task, detail: { service_id: 'act_1' }, summary: 'You ran “ls” in atlas.' })).who
  expect(old('call:1')).toBe('You (by a program)')
  expect(old('chat:1')).toBe('You (by a chat)')
  expect(old('action:1')).toBe('You')
  expect(old(null)).toBe('You')
  expect(onlyRow(entry({ actor: you, task: 'call:1', summary: 'You approved: pay' })).who).toBe('You')
})

test('does not attribute a built-in rule to the policy of the user', () => {
  const decided = (kind: string, decided_by: string) =>
    describeStep(entry({ kind, actor: you, detail: { decided_by } }))
  expect(decided('intent.approved', 'steward')).toBe('Steward (built in) approved it')
  expect(decided('intent.denied', 'steward')).toBe('Steward (built in) denied it')
  expect(decided('intent.denied', 'policy')).toBe('Your policy denied it')
  expect(describeDecider('steward')).toBe('Steward (built in)')
})
