import { describe, expect, test } from 'vitest'
import { createTokenBuckets } from '#platform/concurrency/tokenBuckets.ts'
import { AccountId } from '#shared/ids.ts'
import type { Caller } from '../base/endpoint.ts'
import { createClientAddress } from './callerAddress.ts'
import { createRateLimits } from './rateLimits.ts'

const accountId = AccountId.parse('acct_1')
const holder = (keyId: string): Caller => ({
  accountId,
  owner: false,
  managesAccount: false,
  principal: 'key:key_1',
  onlySandbox: undefined,
  keyId,
  wallet: undefined,
})

describe('a token bucket', () => {
  test('reports when the next token is available', () => {
    let nowMs = 0
    const { take } = createTokenBuckets({ burst: 2, perSecond: 0.5, now: () => nowMs })
    expect([take('a'), take('a'), take('a'), take('a'), take('b')]).toEqual([0, 0, 2, 2, 0])
    nowMs += 2000
    expect([take('a'), take('a')]).toEqual([0, 2])
  })

  test('never exceeds its capacity, even when the clock is set back', () => {
    let nowMs = 1e9
    const { take } = createTokenBuckets({ burst: 1, perSecond: 1, now: () => nowMs })
    nowMs += 1e9
    expect([take('a'), take('a')]).toEqual([0, 1])
    nowMs -= 1e9
    expect(take('a')).toBe(1)
  })
})

describe('rate limits', () => {
  let nowMs = 0
  const limits = () =>
    createRateLimits(
      {
        perKey: 2,
        perAddress: 3,
        signInsPerAddress: 1,
        newAutomatonsPerDay: 2,
        noncesPerDay: 1,
        newAccountsPerDay: 1,
      },
      () => nowMs,
    )
  const refusal = (message: string) =>
    expect.objectContaining({ code: 'request/rate', message, retryAfterSeconds: expect.any(Number) })

  test('limit a key across addresses without affecting other keys', () => {
    const { checkAuthenticated } = limits()
    for (const address of ['1.1.1.1', '2.2.2.2']) checkAuthenticated(holder('key_1'), address)
    expect(() => checkAuthenticated(holder('key_1'), '3.3.3.3')).toThrow(refusal('Too many requests with this key.'))
    checkAuthenticated(holder('key_2'), '3.3.3.3')
  })

  test('limit an address regardless of its keys', () => {
    const { checkAuthenticated, checkUnauthenticated } = limits()
    for (const key of ['key_1', 'key_2', 'key_3']) checkAuthenticated(holder(key), '1.1.1.1')
    expect(() => checkAuthenticated(holder('key_4'), '1.1.1.1')).toThrow(
      refusal('Too many requests from this address.'),
    )
    expect(() => checkUnauthenticated('1.1.1.1')).toThrow()
    checkUnauthenticated('2.2.2.2')
  })

  test('are stricter for sign-in', () => {
    const { signIn, checkUnauthenticated } = limits()
    signIn('1.1.1.1')
    expect(() => signIn('1.1.1.1')).toThrow(refusal('Too many requests to sign in or register from this address.'))
    checkUnauthenticated('1.1.1.1')
  })

  test('apply a daily quota to a network, separately for each kind', () => {
    const { count } = limits()
    const requester = { address: '1.1.1.1', caller: undefined }
    for (const quota of ['automaton', 'automaton', 'nonce', 'account'] as const) count(quota, requester)
    nowMs += 60_000
    for (const quota of ['automaton', 'nonce', 'account'] as const) {
      expect(() => count(quota, requester)).toThrow(expect.objectContaining({ retryAfterSeconds: 86_340 }))
      count(quota, { ...requester, address: '2.2.2.2' })
      count(quota, { ...requester, caller: { ...holder('key_1'), owner: true } })
    }
    nowMs += 86_340_000
    count('automaton', requester)
  })

  test('allow a network 20,000 name searches a day', () => {
    const { count } = limits()
    const requester = { address: '1.1.1.1', caller: undefined }
    for (let names = 0; names < 20_000; names += 1) count('name', requester)
    nowMs += 3_600_000
    expect(() => count('name', requester)).toThrow(
      expect.objectContaining({
        ...{ code: 'request/rate', retryAfterSeconds: 82_800 },
        message: 'Too many domain searches from this network today.',
      }),
    )
    count('name', { ...requester, address: '2.2.2.2' })
    nowMs += 82_800_000
    count('name', requester)
  })

  test('do not apply to the owner', () => {
    const { checkAuthenticated } = limits()
    for (let count = 0; count < 100; count += 1) checkAuthenticated({ ...holder('key_1'), owner: true }, '1.1.1.1')
    checkAuthenticated(holder('key_2'), '1.1.1.1')
  })
})

test.each([
  [false, '9.9.9.9', '1.1.1.1'],
  [true, '9.9.9.9', '9.9.9.9'],
  [true, '6.6.6.6, 9.9.9.9', '9.9.9.9'],
  [true, 'not an address', '1.1.1.1'],
  [true, undefined, '1.1.1.1'],
])('with proxy %s and X-Forwarded-For %s the client address is %s', (behindProxy, forwarded, address) => {
  const request = { headers: { 'x-forwarded-for': forwarded }, socket: { remoteAddress: '1.1.1.1' } }
  expect(createClientAddress({ behindProxy, end: { tookIn: () => false } })(request as never)).toBe(address)
})

test.each([true, false])(
  'requests to the private endpoint are local regardless of headers (proxy: %s)',
  (behindProxy) => {
    const request = { headers: { 'x-forwarded-for': '9.9.9.9' }, socket: {} }
    const end = { tookIn: ({ socket }: { socket: object }) => socket === request.socket }
    expect(createClientAddress({ behindProxy, end })(request as never)).toBe('127.0.0.1')
  },
)
