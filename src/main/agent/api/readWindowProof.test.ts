import { createHash, createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { expect, test } from 'vitest'
import { linkText } from '#shared/contract/localApi.ts'
import { hasWindowKey, readWindowProof, stripLinkSignature, stripWindowProtocols } from './readWindowProof.ts'

const now = Date.UTC(2026, 0, 1)
const until = now / 1000 + 60
const signature = createHmac('sha256', createHash('sha256').update('key').digest())
  .update(linkText(until, '/v1/a?path=b'))
  .digest()
const link = `/v1/a?path=b&steward_link=${until}.${signature.toString('base64url')}`

const proof = (url: string, { method = 'GET', ...headers }: IncomingHttpHeaders & { method?: string } = {}) =>
  readWindowProof({ url, method, headers }, now)

test('reads the window key from the header first, then from the protocol', () => {
  expect(proof('/', { 'x-steward-window': 'a' })).toEqual({ key: 'a' })
  expect(proof('/', { 'sec-websocket-protocol': 'steward,steward.window.b' })).toEqual({ key: 'b' })
  expect(proof('/', { 'x-steward-window': 'a', 'sec-websocket-protocol': 'steward.window.b' })).toEqual({ key: 'a' })
  expect(proof('/', { 'sec-websocket-protocol': 'steward, steward.token.c' })).toBeUndefined()
  expect(proof('/', { cookie: 'steward_session_1=x', authorization: 'Bearer x' })).toBeUndefined()
})

test('reads a link signature and strips it from the URL', () => {
  expect(proof(link)).toEqual({ signed: linkText(until, '/v1/a?path=b'), signature })
  expect(proof(link, { method: 'HEAD' })).toBeDefined()
  expect(stripLinkSignature(link)).toBe('/v1/a?path=b')
  const bare = `/v1/a?steward_link=${until}.${signature.toString('base64url')}`
  expect(stripLinkSignature(bare)).toBe('/v1/a')
  expect(stripLinkSignature('/v1/a?path=b')).toBe('/v1/a?path=b')
})

test.each([
  ['another method', link, 'POST'],
  ['an end that has passed', link.replace(`${until}.`, `${now / 1000 - 1}.`), 'GET'],
  ['no signature', `/v1/a?steward_link=${until}.`, 'GET'],
  ['a short signature', link.slice(0, -1), 'GET'],
  ['an end that is no number', link.replace(`${until}.`, '1e99.'), 'GET'],
  ['more behind it', `${link}&more=1`, 'GET'],
])('rejects %s as proof', (_, url, method) => {
  expect(proof(url, { method })).toBeUndefined()
})

test('accepts a link that expires within twelve hours', () => {
  const linkUntil = (seconds: number) => `/v1/a?steward_link=${seconds}.${signature.toString('base64url')}`
  expect(proof(linkUntil(now / 1000 + 12 * 3600))).toBeDefined()
  expect(proof(linkUntil(now / 1000 + 12 * 3600 + 1))).toBeUndefined()
})

test('strips the window protocols from the header', () => {
  expect(stripWindowProtocols('steward, steward.window.b')).toEqual([])
  expect(stripWindowProtocols('steward,steward.window.b , other')).toEqual(['other'])
  expect(hasWindowKey({ headers: { 'sec-websocket-protocol': 'steward' } })).toBe(false)
})
