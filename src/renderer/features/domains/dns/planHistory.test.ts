import { expect, test } from 'vitest'
import type { DnsPlan } from '#shared/contract/localDomains.ts'
import { formatPlanHeading, listAppliedPlans } from './planHistory.ts'

const record = { type: 'A' as const, host: '@', value: '192.0.2.1', ttl: 300, distance: null }
const plan = (states: DnsPlan['steps'][number]['state'][], undoOf: string | null = null): DnsPlan => ({
  ...{ id: 'p', domain: 'a.com', state: 'applied', hash: '', before: [], error: null, undo_of: undoOf },
  steps: states.map((state) => ({ action: 'add', after: record, state })),
  created_at: '2026-01-01T00:00:00.000Z',
})

test('lists applied and partially applied plans in the history', () => {
  const [done, part, ready] = [plan(['done']), plan(['done', 'failed']), plan(['waiting'])]
  expect(listAppliedPlans([done, part, ready, plan([])])).toEqual([done, part])
  expect([done, part, plan(['done', 'done'], 'p0')].map(formatPlanHeading)).toEqual([
    ...['1 change', '1 of 2 changes', 'Undo, 2 changes'],
  ])
})
