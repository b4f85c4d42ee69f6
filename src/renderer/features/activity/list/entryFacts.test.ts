import { expect, test } from 'vitest'
import { listEntryFacts } from './entryFacts.ts'

test('formats amounts, deciders and times for users and omits identifiers', () => {
  const facts = listEntryFacts({
    intent_id: '5f2c',
    requester: 'key:key_1',
    asker_name: 'research-agent',
    amount_micro_usd: '5000000',
    decided_by: 'person',
    expiry_minutes: 15,
    host: null,
  })
  expect(facts.map(({ name, value }) => `${name}: ${value}`)).toEqual([
    'Requested by: research-agent',
    'Amount: $5.00',
    'Decided by: You',
    'Requests expire after: 15 minutes',
  ])
})

test('shows a command as it was run', () => {
  expect(listEntryFacts({ command: 'npm test', service_id: 'act_1' })).toEqual([
    { name: 'Command', value: 'npm test', isCode: true },
  ])
})
