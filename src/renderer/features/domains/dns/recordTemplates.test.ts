import { expect, test } from 'vitest'
import { type DnsRecordData, normalizeRecord } from '#shared/dns/dnsRecord.ts'
import { recordTemplates } from './recordTemplates.ts'
import { buildTemplateRows } from './templateRows.ts'

const examples: Record<string, string> = {
  ...{ v4: '192.0.2.1', v6: '2001:db8::1', user: 'octocat', site: 'my-site', mail: 'dmarc@example.com' },
  ...{ code: 'code=1', value: 'google-site-verification=x', host: '_acme-challenge' },
}
const zone = 'example.com'
const find = (id: string) => {
  const template = recordTemplates.find((it) => it.id === id)
  if (!template) throw new Error(`There is no template ${id}.`)
  return template
}
const present = (type: DnsRecordData['type'], value: string, host = '@') => normalizeRecord(zone, { type, host, value })

test.each(recordTemplates)('$label creates records that do not conflict', (template) => {
  const written = Object.fromEntries(template.fields.map(({ id }) => [id, examples[id] ?? '']))
  const { rows, fault } = buildTemplateRows(zone, { template, written, present: [] })
  expect(fault).toBeUndefined()
  expect(rows.every(({ state }) => state === 'new')).toBe(true)
})

test('reports missing or invalid input with its field', () => {
  const server = find('server')
  expect(buildTemplateRows(zone, { template: server, written: {}, present: [] }).fault).toEqual({
    ...{ field: 'v4', message: 'Enter the IPv4 address.' },
  })
  const wrong = buildTemplateRows(zone, { template: server, written: { v4: 'nowhere' }, present: [] })
  expect(wrong.fault?.message).toContain('IPv4')
})

test('skips existing records and blocks conflicting ones', () => {
  const rows = (id: string, ...of: DnsRecordData[]) =>
    buildTemplateRows(zone, { template: find(id), written: {}, present: of }).rows.map(({ state, note }) => [
      state,
      note,
    ])
  expect(rows('lets-encrypt', present('CAA', '0 issue "letsencrypt.org"'))).toEqual([['exists', undefined]])
  expect(rows('www', present('A', '192.0.2.1', 'www'))[0]?.[0]).toBe('blocked')
  expect(rows('google', present('TXT', 'v=spf1 -all'))[1]).toEqual([
    'blocked',
    'Another SPF record exists: add “include:_spf.google.com” to it.',
  ])
})
