import { expect, test } from 'vitest'
import { computeRunCents } from './runCost.ts'

const started = '2026-11-22T10:00:00.000Z'
const cost = { tier: 'small', cents_per_hour: 0.6945, run_cents: 0.25, charged: false }
const at = (minutes: number) => Date.parse(started) + minutes * 60_000

test('extrapolates the cost from the last recorded value', () => {
  expect(computeRunCents({ cost, started_at: started }, at(600))).toBe(6.94)
  expect(computeRunCents({ cost, started_at: started }, at(0))).toBe(0.25)
})

test('charges nothing while stopped and never lowers the cost for a slow clock', () => {
  expect(computeRunCents({ cost, started_at: null }, at(60))).toBe(0)
  expect(computeRunCents({ started_at: started }, at(60))).toBe(0)
  expect(computeRunCents({ cost, started_at: started }, at(-60))).toBe(0.25)
})
