import fc from 'fast-check'
import { expect, test } from 'vitest'
import { randomZone } from '#test/support/fixtures/randomZone.ts'
import type { DnsRecordData } from './dnsRecord.ts'
import { normalizeRecord } from './dnsRecord.ts'
import { type PresentRecord, planZone, toWireValue, type ZoneStep } from './zonePlan.ts'
import { findZoneConflict } from './zoneRules.ts'

const zone = 'example.com'
const a = (host: string, value: string, ttl = 3_600): DnsRecordData => ({ type: 'A', host, value, ttl, distance: null })
const withIds = (records: readonly DnsRecordData[]): PresentRecord[] =>
  records.map((record, index) => ({ ...record, id: `r${index}` }))

test('changes records with the same name and type, and adds or removes others', () => {
  const present = withIds([a('@', '192.0.2.1'), a('www', '192.0.2.1'), a('old', '192.0.2.9')])
  const steps = planZone(zone, present, [a('@', '192.0.2.1', 600), a('www', '192.0.2.2'), a('new', '192.0.2.3')])
  expect(
    steps.map((step) => [step.action, 'before' in step && step.before.id, 'after' in step && step.after.value]),
  ).toEqual([
    ['remove', 'r2', false],
    ['change', 'r0', '192.0.2.1'],
    ['change', 'r1', '192.0.2.2'],
    ['add', false, '192.0.2.3'],
  ])
})

test('changes only the differing record among several with one name', () => {
  const present = withIds([a('@', '192.0.2.1'), a('@', '192.0.2.2'), a('@', '192.0.2.3')])
  const steps = planZone(zone, present, [a('@', '192.0.2.3'), a('@', '192.0.2.7'), a('@', '192.0.2.1')])
  expect(steps).toEqual([{ action: 'change', before: present[1], after: a('@', '192.0.2.7') }])
})

test.each([
  [[a('@', '192.0.2.300')], 0, '`value`'],
  [[a('www', '192.0.2.1'), a('www', '192.0.2.1', 600)], 0, 'twice'],
  [[a('www', '192.0.2.1'), { ...a('www', 'example.net'), type: 'CNAME' as const }], 0, 'CNAME'],
  [Array.from({ length: 1_001 }, (_, index) => a(`h${index}`, '192.0.2.1')), 1_000, '1000'],
])('rejects an invalid plan and reports the record', (desired, index, reason) => {
  expect(() => planZone(zone, [], desired)).toThrow(
    expect.objectContaining({ name: 'ZonePlanError', index, message: expect.stringContaining(reason) }),
  )
})

test('leaves existing records of the registrar unchanged, even invalid ones', () => {
  const odd = a('@', '192.0.2.1', 60)
  expect(planZone(zone, withIds([odd]), [odd])).toEqual([])
  expect(planZone(zone, withIds([odd]), [odd, a('b', '192.0.2.1')])).toHaveLength(1)
})

test('applies the plan for a random zone without conflicts and then plans nothing', () => {
  fc.assert(
    fc.property(randomZone(zone), randomZone(zone), (before, desired) => {
      const present = withIds(before)
      for (const step of planZone(zone, present, desired)) applyStep(present, step)
      expect(planZone(zone, present, desired)).toEqual([])
      expect(planZone(zone, present, before).length).toBeLessThanOrEqual(before.length + desired.length)
    }),
    { numRuns: 300 },
  )
})

/** Applies a step as the service does. */
function applyStep(present: PresentRecord[], step: ZoneStep): void {
  const index = 'before' in step ? present.findIndex(({ id }) => id === step.before.id) : -1
  if (index >= 0) present.splice(index, 1)
  if (step.action === 'remove') return
  const record = normalizeRecord(zone, { ...step.after, value: toWireValue(step.after) })
  expect(findZoneConflict(present, record)).toBeUndefined()
  present.push({ ...record, id: `n${Math.random()}` })
}
