import { expect, test } from 'vitest'
import { findRegistrableDomain, parseDomainName, requireDomainField, toSearchLabel } from './domainName.ts'

test.each([
  ['example.com', { ascii: 'example.com', unicode: 'example.com', tld: 'com', mixesScripts: false }],
  ['  EXAMPLE.CO.UK. ', { ascii: 'example.co.uk', tld: 'co.uk' }],
  ['münchen.de', { ascii: 'xn--mnchen-3ya.de', unicode: 'münchen.de', mixesScripts: false }],
  ['раураl.com', { mixesScripts: true }],
  ['日本語テスト.com', { mixesScripts: false }],
  ['пример.com', { mixesScripts: false }],
])('parses %s as %o', (text, name) => expect(parseDomainName(text)).toMatchObject(name))

test.each([
  ['shop.example.co.uk', 'example.co.uk'],
  ['example.com', 'example.com'],
  ['co.uk', undefined],
  ['localhost', undefined],
])('the registrable domain of %s is %s', (hostName, domain) => expect(findRegistrableDomain(hostName)).toBe(domain))

test('errors name the request field and the problem', () => {
  expect(requireDomainField('example.com').ascii).toBe('example.com')
  expect(() => requireDomainField('com')).toThrowError(
    expect.objectContaining({ code: 'domain/name', message: '`domain`: "com" is a public suffix itself.' }),
  )
})

test.each([
  ['a', 'must have 3'],
  [`${'a'.repeat(64)}.com`, 'is not a domain name'],
  [`${'a.'.repeat(130)}com`, 'must have 3'],
  ['com', 'is a public suffix'],
  ['co.uk', 'is a public suffix'],
  ['www.example.com', 'is part of example.com'],
  ['example.notatld', 'does not end with'],
  ['192.0.2.1', 'does not end with'],
  ['-a.com', 'is not a domain name'],
  ['a_b.com', 'is not a domain name'],
  ['a b.com', 'is not a domain name'],
  ['a..com', 'is not a domain name'],
  ['a.com/path', 'is not a domain name'],
  ['a.com?q', 'is not a domain name'],
  ['a.com#x', 'is not a domain name'],
  ['b\\a.com', 'is not a domain name'],
  ['%61.com', 'is not a domain name'],
  ['a\t.com', 'is not a domain name'],
  ['a.com:80', 'is not a domain name'],
  ['user@a.com', 'is not a domain name'],
  ['xn--a.com', 'is not a domain name'],
  ['*.com', 'is not a domain name'],
  ['foo.github.io', 'is part of github.io'],
])('rejects %s because it %s', (text, reason) =>
  expect(() => parseDomainName(text)).toThrowError(
    expect.objectContaining({ code: 'domain/name', message: expect.stringContaining(reason) }),
  ),
)

test.each([
  ['My shop!', 'myshop'],
  ['  bücher ', 'xn--bcher-kva'],
  ['--x--', 'x'],
  ['…', ''],
  ['a'.repeat(64), ''],
])('a search for %j looks up the label %j', (query, label) => expect(toSearchLabel(query)).toBe(label))
