import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { randomZone } from '#test/support/fixtures/randomZone.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { formatZoneFile, parseZoneFile, zoneFileLimit } from './zoneFile.ts'

const zone = 'example.com'
const nameservers = ['ns1.example.net', 'ns2.example.net']
const run = promisify(execFile)

test('parses a zone file written by BIND', () => {
  const { records, skipped } = parseZoneFile(
    zone,
    `\ufeff$TTL 1h ; usual
$ORIGIN example.com.
@  IN SOA ns1.example.net. hostmaster (
      2026112201 ; serial
      7200 3600 1209600 3600 )
   IN NS ns1.example.net.
@ 300 IN A 192.0.2.1
  IN 600 AAAA 2001:DB8::1\r
www CNAME @
*.dev.example.com. 1d IN A 192.0.2.2
mail MX 5 mx
_sip._tcp SRV 10 5 5060 sip.example.net.
@ CAA 0 issue "letsencrypt.org"
@ TXT ( "v=spf1 include:a.example " ; first
        "-all" )
k._domainkey TXT "a \\"b\\" \\\\ \\195\\169;(x)"
bare TXT word
sub NS ns1.example.net.
@ HINFO "x" "y"
$ORIGIN lab
a 300 A 192.0.2.3
`,
  )
  expect(skipped).toEqual([
    { line: 3, reason: 'SOA: set by the registrar' },
    { line: 6, reason: 'NS: set by the registrar' },
    { line: 19, reason: 'HINFO: not supported' },
  ])
  const short = records.map(({ type, host, value, ttl, distance }) => [host, ttl, type, distance, value])
  expect(short).toEqual([
    ['@', 300, 'A', null, '192.0.2.1'],
    ['@', 600, 'AAAA', null, '2001:db8::1'],
    ['www', 3_600, 'CNAME', null, 'example.com'],
    ['*.dev', 86_400, 'A', null, '192.0.2.2'],
    ['mail', 3_600, 'MX', 5, 'mx.example.com'],
    ['_sip._tcp', 3_600, 'SRV', 10, '5 5060 sip.example.net'],
    ['@', 3_600, 'CAA', null, '0 issue "letsencrypt.org"'],
    ['@', 3_600, 'TXT', null, 'v=spf1 include:a.example -all'],
    ['k._domainkey', 3_600, 'TXT', null, 'a "b" \\ é;(x)'],
    ['bare', 3_600, 'TXT', null, 'word'],
    ['sub', 3_600, 'NS', null, 'ns1.example.net'],
    ['a.lab', 300, 'A', null, '192.0.2.3'],
  ])
})

test.each([
  ['$INCLUDE /etc/passwd', 1, 'not allowed'],
  ['$GENERATE 1-99999999 a$ A 192.0.2.1', 1, 'not allowed'],
  ['www A 192.0.2.1\nwww A 192.0.2.1', 2, 'twice'],
  ['www A 192.0.2.256', 1, 'IPv4'],
  ['evil.net. A 192.0.2.1', 1, 'not part of'],
  ['notexample.com. A 192.0.2.1', 1, 'not part of'],
  ['www.example.com A 192.0.2.1', 1, 'dot is missing'],
  ['www CH A 192.0.2.1', 1, 'class CH'],
  ['  A 192.0.2.1', 1, 'no name'],
  ['www', 1, 'record type is missing'],
  ['www A', 1, 'one value'],
  ['www A 192.0.2.1 192.0.2.2', 1, 'one value'],
  ['a TXT "open', 1, 'quote'],
  ['a TXT "two\nlines"', 1, 'quote'],
  ['a TXT ( "x"', 1, 'parenthesis'],
  ['a TXT (( "x" ))', 1, 'Parentheses'],
  ['a TXT "x" )', 1, 'parenthesis'],
  ['a TXT "\\999"', 1, 'quotes'],
  ['a TXT "\u0000"', 1, 'control'],
  ['a TXT "\\010"', 1, 'control'],
  ['a\\.b A 192.0.2.1', 1, 'The name'],
  ['@ MX mail', 1, '2 values'],
  ['@ MX 70000 mail', 1, 'The priority'],
  ['$TTL', 1, 'invalid value'],
  [`a TXT ${'x '.repeat(300)}`, 1, 'too long'],
  [Array.from({ length: 1_001 }, (_, index) => `a${index} A 192.0.2.1`).join('\n'), 1_001, 'more than 1000'],
  ['x'.repeat(zoneFileLimit + 1), 1, 'characters'],
])('rejects %j and reports the line', (text, line, reason) => {
  expect(() => parseZoneFile(zone, text)).toThrow(
    expect.objectContaining({ name: 'ZoneFileError', line, message: expect.stringContaining(reason) }),
  )
})

test('round-trips any zone through a zone file', () => {
  fc.assert(
    fc.property(randomZone(zone), (records) => {
      expect(parseZoneFile(zone, formatZoneFile({ name: zone, nameservers, records })).records).toEqual(records)
    }),
    { numRuns: 200 },
  )
})

test('throws only zone file errors for arbitrary text', () => {
  const piece = fc.constantFrom(
    '"',
    '\\',
    '(',
    ')',
    ';',
    '\n',
    ' ',
    '$TTL',
    '$ORIGIN',
    '.',
    '@',
    'A',
    'TXT',
    '300',
    'é',
    '\\0',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }), (pieces) => {
      try {
        parseZoneFile(zone, pieces.join(''))
      } catch (fault) {
        expect(fault).toHaveProperty('name', 'ZoneFileError')
      }
    }),
    { numRuns: 500 },
  )
})

test('exports zone files that named-checkzone accepts', async () => {
  const zones = fc.sample(randomZone(zone), { numRuns: 12, seed: 5 })
  const file = join(temporaryFolder('zone'), 'zone')
  for (const records of zones) {
    writeFileSync(file, formatZoneFile({ name: zone, nameservers, records }))
    const { stdout } = await run('named-checkzone', [
      '-i',
      'none',
      '-n',
      'ignore',
      '-m',
      'ignore',
      '-M',
      'ignore',
      '-S',
      'ignore',
      zone,
      file,
    ])
    expect(stdout).toContain('OK')
  }
})

test('clamps a TTL outside the limits, and reports its line', () => {
  const text = [
    '$ORIGIN example.com.',
    '@ 1 IN A 192.0.2.1',
    'www 60 IN CNAME example.com.',
    'old 172800 IN A 192.0.2.2',
  ].join('\n')
  const { records, clamped } = parseZoneFile('example.com', text)
  expect(records.map(({ ttl }) => ttl)).toEqual([300, 300, 86_400])
  expect(clamped).toEqual([
    { line: 2, from: 1, to: 300 },
    { line: 3, from: 60, to: 300 },
    { line: 4, from: 172_800, to: 86_400 },
  ])
})

test('describes problems without backticks', () => {
  expect(() => parseZoneFile('example.com', '@ 300 IN A here')).toThrow(
    'The value must be an IPv4 address, as in “192.0.2.1”',
  )
})
