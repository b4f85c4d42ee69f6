import { expect, test } from 'vitest'
import type { DnsRecord } from '#shared/contract/dnsRecords.ts'
import type { DnsRecordData } from '#shared/dns/dnsRecord.ts'
import {
  buildZoneRows,
  editCount,
  noEdits,
  parseRecordForm,
  removeRecord,
  restoreRecord,
  toRecords,
  withAddress,
  withImported,
  withRecord,
} from './zoneEdits.ts'

const a = (host: string, value: string): DnsRecordData => ({ type: 'A', host, value, ttl: 3_600, distance: null })
const unchanged = (id: string, { distance: _, ...data }: DnsRecordData): DnsRecord => ({
  ...data,
  id,
  recordId: id,
  record_id: id,
})
const recordData = [a('@', '192.0.2.1'), a('www', '192.0.2.2')]
const records = recordData.map((data, index) => unchanged(`r${index + 1}`, data))

test('preserves edits when the underlying zone changes', () => {
  let edits = withRecord(noEdits, a('new', '192.0.2.3'), { newKey: 'n1' })
  edits = withRecord(edits, a('@', '192.0.2.9'), { key: 'r1', newKey: '' })
  edits = removeRecord(edits, 'r2')
  expect(buildZoneRows(records, edits).map(({ key, state }) => [key, state])).toEqual([
    ['r1', 'changed'],
    ['r2', 'removed'],
    ['n1', 'added'],
  ])
  const moved = [...records, unchanged('r3', a('other', '192.0.2.7'))]
  expect(toRecords(buildZoneRows(moved, edits)).map(({ value }) => value)).toEqual([
    '192.0.2.9',
    '192.0.2.7',
    '192.0.2.3',
  ])
  expect(editCount(records, restoreRecord(restoreRecord(removeRecord(edits, 'n1'), 'r1'), 'r2'))).toBe(0)
})

test('an import adds missing records or replaces the whole zone', () => {
  const imported = [a('@', '192.0.2.1'), a('x', '192.0.2.5')]
  const newKey = () => 'n'
  expect(withImported(records, imported, { replace: false, newKey })).toMatchObject({ removed: [] })
  const replaced = withImported(records, imported, { replace: true, newKey })
  expect(toRecords(buildZoneRows(records, replaced))).toEqual(imported)
})

test('accepts a valid record or reports its invalid field', () => {
  const form = { type: 'A', host: 'www', value: '192.0.2.9', ttl: '', distance: '' } as const
  expect(parseRecordForm('example.com', form, recordData)).toEqual({ record: a('www', '192.0.2.9') })
  expect(parseRecordForm('example.com', { ...form, value: 'x' }, [])).toEqual({
    field: 'value',
    message: 'Must be an IPv4 address, as in 192.0.2.1.',
  })
  expect(parseRecordForm('example.com', { ...form, ttl: 'soon' }, [])).toMatchObject({ field: 'ttl' })
  expect(parseRecordForm('example.com', { ...form, value: '192.0.2.2' }, recordData)).toMatchObject({ field: 'value' })
})

test('replaces other address records when a name is pointed to an address', () => {
  const edits = withAddress(records, noEdits, { record: a('www', '127.0.0.1'), newKey: 'n' })
  const rows = buildZoneRows(records, edits)
  const leading = toRecords(rows).filter(({ host, type }) => host === 'www' && ['A', 'AAAA', 'CNAME'].includes(type))
  expect(leading).toEqual([a('www', '127.0.0.1')])
  expect(toRecords(rows).filter(({ host }) => host !== 'www')).toEqual(
    toRecords(buildZoneRows(records, noEdits)).filter(({ host }) => host !== 'www'),
  )
})
