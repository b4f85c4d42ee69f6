import { expect, test } from 'vitest'
import type { DnsRecordData } from './dnsRecord.ts'
import { type PresentRecord, planZone } from './zonePlan.ts'
import { revertSteps } from './zoneUndo.ts'

const a = (host: string, value: string, ttl = 3_600): DnsRecordData => ({ type: 'A', host, value, ttl, distance: null })
const present = (all: readonly DnsRecordData[]): PresentRecord[] =>
  all.map((it, index) => ({ ...it, id: `id${index}` }))
const short = (all: readonly DnsRecordData[]) => all.map(({ host, value, ttl }) => `${host} ${value} ${ttl}`).sort()

const before = [a('@', '192.0.2.1'), a('old', '192.0.2.2'), a('ttl', '192.0.2.3')]
const after = [a('@', '192.0.2.9'), a('ttl', '192.0.2.3', 300), a('new', '192.0.2.4')]
const steps = planZone('example.com', present(before), after)

test('reverts a fully applied plan completely', () => {
  expect(short(revertSteps(after, steps))).toEqual(short(before))
})

test('reverts the applied steps of an interrupted plan', () => {
  for (let done = 0; done <= steps.length; done += 1) {
    const zone = steps.slice(0, done).reduce<DnsRecordData[]>((all, step) => {
      const others = step.action === 'add' ? all : all.filter((it) => it.host !== step.before.host)
      return step.action === 'remove' ? others : [...others, step.after]
    }, before)
    expect(short(revertSteps(zone, steps))).toEqual(short(before))
  }
})

test('keeps records that others added or changed since the plan', () => {
  const zone = [a('@', '198.51.100.7'), a('ttl', '192.0.2.3', 300), a('new', '192.0.2.4'), a('theirs', '192.0.2.8')]
  expect(short(revertSteps(zone, steps))).toEqual(
    short([a('@', '198.51.100.7'), a('old', '192.0.2.2'), a('ttl', '192.0.2.3'), a('theirs', '192.0.2.8')]),
  )
})
