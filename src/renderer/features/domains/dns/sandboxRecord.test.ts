import { expect, test } from 'vitest'
import { createSandboxRecord, removeSandboxRecord } from './sandboxRecord.ts'
import { noEdits } from './zoneEdits.ts'

const zone = 'northwind.com'
const record = (id: string, type: 'A' | 'CNAME', host: string, value: string) => ({
  ...{ id, recordId: id, record_id: id, type, host, value, ttl: 3600 },
  ...{ type, created_at: '2026-11-22T10:00:00.000Z', updated_at: '2026-11-22T10:00:00.000Z' },
})
const records = [
  record('1', 'A', '@', '127.0.0.1'),
  record('2', 'A', '@', '192.0.2.10'),
  record('3', 'A', 'api', '127.0.0.1'),
  record('4', 'CNAME', 'app', 'boxes.example'),
]

test('points a name to this computer or to the public address of the service', () => {
  expect(createSandboxRecord(zone, '@', { dns_target: null })).toMatchObject({
    type: 'A',
    host: '@',
    value: '127.0.0.1',
  })
  expect(createSandboxRecord(zone, 'app', { dns_target: 'boxes.example' })).toMatchObject({
    type: 'CNAME',
    host: 'app',
  })
})

test.each([
  ['northwind.com', null, ['1']],
  ['api.northwind.com', null, ['3']],
  ['app.northwind.com', 'boxes.example', ['4']],
  ['other.northwind.com', null, []],
])('removing %s removes only the record that pointed it to the sandbox', (domain, target, removed) => {
  const edits = removeSandboxRecord(zone, { records, edits: noEdits }, { domain, dns_target: target })
  expect(edits).toEqual({ ...noEdits, removed })
})
