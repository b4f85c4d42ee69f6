import { expect, test } from 'vitest'
import { parseCharacterStrings, quoteText, splitText } from './characterStrings.ts'
import { DnsRecordError, type NewDnsRecord, normalizeRecord } from './dnsRecord.ts'
import { findZoneConflict } from './zoneRules.ts'

const zone = 'example.com'
const record = (fields: Partial<NewDnsRecord>) =>
  normalizeRecord(zone, { type: 'A', host: '@', value: '192.0.2.1', ...fields })

test.each([
  [{ host: 'WWW.' }, { host: 'www' }],
  [{ host: '' }, { host: '@' }],
  [{ host: 'example.com.' }, { host: '@' }],
  [{ host: 'a.b.example.com' }, { host: 'a.b' }],
  [{ host: '*.dev' }, { host: '*.dev' }],
  [{ host: '_dmarc' }, { host: '_dmarc' }],
  [{ type: 'AAAA', value: '2001:DB8:0:0::1' }, { value: '2001:db8::1' }],
  [{ type: 'AAAA', value: '::ffff:192.0.2.1' }, { value: '::ffff:c000:201' }],
  [{ type: 'CNAME', host: 'www', value: 'Example.COM.' }, { value: 'example.com' }],
  [{ type: 'CNAME', host: 'www', value: '@' }, { value: 'example.com' }],
  [
    { type: 'MX', value: 'mail.example.com', distance: 5 },
    { value: 'mail.example.com', distance: 5 },
  ],
  [{ type: 'MX', value: 'mail.example.com' }, { distance: 10 }],
  [
    { type: 'MX', value: '.', distance: 0 },
    { value: '.', distance: 0 },
  ],
  [{ type: 'SRV', host: '_sip._tcp', value: '05  5060 sip.example.com.' }, { value: '5 5060 sip.example.com' }],
  [{ type: 'CAA', value: '0 ISSUE letsencrypt.org' }, { value: '0 issue "letsencrypt.org"' }],
  [{ type: 'CAA', value: '128 iodef "mailto:a@example.com"' }, { value: '128 iodef "mailto:a@example.com"' }],
  [{ type: 'TXT', value: '"v=spf1 " "-all"' }, { value: 'v=spf1 -all' }],
  [{ type: 'TXT', value: 'say "hi" \\' }, { value: 'say "hi" \\' }],
  [{ distance: null }, { distance: null }],
  [{ type: 'MX', value: 'mail.example.com', distance: 7 }, { distance: 7 }],
  [{}, { ttl: 3_600 }],
] as [Partial<NewDnsRecord>, object][])('normalizes %o to %o', (fields, expected) =>
  expect(record(fields)).toMatchObject(expected),
)

test.each([
  [{ host: 'a..b' }, 'host'],
  [{ host: '-a' }, 'host'],
  [{ host: 'a.*.b' }, 'host'],
  [{ host: 'ä' }, 'host'],
  [{ host: 'x\nA' }, 'host'],
  [{ host: `${'a'.repeat(60)}.`.repeat(4) }, 'host'],
  [{ value: '256.0.0.1' }, 'value'],
  [{ value: '192.0.2.1 ; rm' }, 'value'],
  [{ type: 'AAAA', value: 'fe80::1%eth0' }, 'value'],
  [{ type: 'CNAME', value: 'a.example.com' }, 'host'],
  [{ type: 'CNAME', host: 'www', value: 'www' }, 'value'],
  [{ type: 'NS', value: 'ns1.example.net' }, 'host'],
  [{ type: 'NS', host: '*', value: 'ns1.example.net' }, 'host'],
  [{ type: 'MX', value: '192.0.2.1' }, 'value'],
  [{ type: 'MX', value: 'mail.example.com', distance: 65_536 }, 'distance'],
  [{ type: 'SRV', host: 'sip', value: '5 5060 sip.example.com' }, 'host'],
  [{ type: 'SRV', host: '_sip._tcp', value: '5 5060' }, 'value'],
  [{ type: 'CAA', value: '256 issue "x"' }, 'value'],
  [{ type: 'CAA', value: '0 issue "x" y' }, 'value'],
  [{ type: 'TXT', value: '' }, 'value'],
  [{ type: 'TXT', value: '"open' }, 'value'],
  [{ type: 'TXT', value: '"a"b"' }, 'value'],
  [{ type: 'TXT', value: 'a\nb' }, 'value'],
  [{ type: 'TXT', value: 'é'.repeat(2_049) }, 'value'],
  [{ ttl: 299 }, 'ttl'],
  [{ ttl: 86_401 }, 'ttl'],
  [{ ttl: 300.5 }, 'ttl'],
] as [Partial<NewDnsRecord>, string][])('rejects %o because of its %s', (fields, field) => {
  try {
    record(fields)
  } catch (fault) {
    expect(fault).toBeInstanceOf(DnsRecordError)
    expect((fault as DnsRecordError).field).toBe(field)
    expect((fault as DnsRecordError).message).toMatch(new RegExp(`^\`${field}\` .+\\.$`))
    return
  }
  throw new Error('It was taken.')
})

test('formats IPv6 addresses like the standard library', () => {
  const written = [
    '::',
    '::1',
    '1::',
    '1:0:0:2:0:0:0:3',
    '1:0:0:2:0:0:3:4',
    '0:0:1::',
    '1:2:3:4:5:6:7:8',
    '2001:db8:0:1:1:1:1:1',
  ]
  for (const value of [...written, 'fe80::0:ab', '::ffff:1.2.3.4', '64:ff9b::192.0.2.33', '1:0:2:0:3:0:4:0']) {
    expect(record({ type: 'AAAA', value }).value).toBe(new URL(`http://[${value}]/`).hostname.slice(1, -1))
  }
})

test('leaves a normalized record unchanged', () => {
  const all = [
    record({}),
    record({ type: 'TXT', value: `k=${'x'.repeat(700)} "q" \\ é` }),
    record({ type: 'SRV', host: '_a._udp', value: '0 1 b.example.com' }),
    record({ type: 'CAA', value: '0 issue ";"' }),
  ]
  for (const record of all) expect(normalizeRecord(zone, record)).toEqual(record)
})

test('round-trips text through quoted strings of at most 255 bytes', () => {
  for (const text of ['a', '"', '\\', 'é€😀', ' lead and trail ', 'x'.repeat(255), 'é'.repeat(600), '\\065"\\"']) {
    expect(parseCharacterStrings(quoteText(text))).toBe(text)
    for (const piece of splitText(text)) expect(piece.length).toBeLessThanOrEqual(255)
  }
  expect(splitText('x'.repeat(256))).toHaveLength(2)
})

test.each(['"', '"a', 'a"', '"a" b', '"a""b"', '"\\', '"\\256"', '"\\2"'])('rejects %s as a character string', (text) =>
  expect(parseCharacterStrings(text)).toBeUndefined(),
)

test('reports a conflict for a duplicate record and for a record beside a CNAME', () => {
  const www = record({ host: 'www' })
  expect(findZoneConflict([www], record({ host: 'www', ttl: 600 }))).toEqual({ with: www, reason: 'duplicate' })
  const alias = record({ type: 'CNAME', host: 'www', value: 'example.net' })
  expect(findZoneConflict([www], alias)?.reason).toBe('cname')
  expect(findZoneConflict([alias], www)?.reason).toBe('cname')
  expect(findZoneConflict([alias], record({ type: 'TXT', host: 'mail', value: 'x' }))).toBeUndefined()
  expect(findZoneConflict([www], record({ host: 'www', value: '192.0.2.2' }))).toBeUndefined()
})
