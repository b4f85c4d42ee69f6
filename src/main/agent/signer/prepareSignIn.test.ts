import { base58 } from '@scure/base'
import { SiweMessage as StrictSiweMessage } from '@signinwithethereum/siwe'
import { createSignInMessageText, parseSignInMessageText } from '@solana/wallet-standard-util'
import { verifyMessage as ethersVerify } from 'ethers'
import { SiweMessage } from 'siwe'
import nacl from 'tweetnacl'
import { verifyMessage } from 'viem'
import { createSiweMessage, parseSiweMessage } from 'viem/siwe'
import { expect, test } from 'vitest'
import type { IntentInput } from '#shared/contract/intents.ts'
import { toIsoTime } from '#shared/time.ts'
import { createTestSigner, refusal, testTime } from '#test/support/fixtures/testSigner.ts'

const tested = createTestSigner()
const { keys } = tested
const minute = 60_000

const base = { domain: 'example.com', uri: 'https://example.com/sign-in?a=b', nonce: 'abcdef0123456789' }
const siwe = (over: object = {}): IntentInput => ({ kind: 'siwe', ...base, ...over })
const siws = (over: object = {}): IntentInput => ({ kind: 'siws', ...base, ...over })

test.each([undefined, 'Sign in to Example, please.'])(
  'SIWE matches the message of viem, statement: %s',
  async (statement) => {
    const { message, signature, address } = await tested.signed(siwe({ statement }))
    expect(message).toBe(
      createSiweMessage({
        ...base,
        address: keys.evm.address as `0x${string}`,
        chainId: 8453,
        version: '1',
        issuedAt: new Date(testTime),
        expirationTime: new Date(testTime + 60 * minute),
        ...(statement !== undefined && { statement }),
      }),
    )
    expect(parseSiweMessage(message ?? '')).toMatchObject({ nonce: base.nonce, chainId: 8453 })
    expect(new SiweMessage(message ?? '').toMessage()).toBe(message)
    expect(new StrictSiweMessage(message ?? '').toMessage()).toBe(message)
    expect(ethersVerify(message ?? '', signature)).toBe(address)
    expect(
      await verifyMessage({
        address: address as `0x${string}`,
        message: message ?? '',
        signature: signature as `0x${string}`,
      }),
    ).toBe(true)
  },
)

test.each([undefined, 'Sign in to Example, please.'])(
  'SIWS matches the standard text, statement: %s',
  async (statement) => {
    const { message, signature, address } = await tested.signed(siws({ statement }))
    expect(message).toBe(
      createSignInMessageText({
        ...base,
        address: keys.solana.address,
        chainId: 'mainnet',
        version: '1',
        issuedAt: toIsoTime(testTime),
        expirationTime: toIsoTime(testTime + 60 * minute),
        ...(statement !== undefined && { statement }),
      }),
    )
    expect(parseSignInMessageText(message ?? '')).toMatchObject({ address, statement, nonce: base.nonce })
    const bytes = new TextEncoder().encode(message)
    expect(nacl.sign.detached.verify(bytes, base58.decode(signature), base58.decode(address))).toBe(true)
  },
)

test('fills in omitted fields and signs them as shown', async () => {
  const later = createTestSigner()
  const { intent, raw, host } = await later.prepare(siwe())
  expect(intent).toMatchObject({
    account_id: keys.evm.id,
    issued_at: toIsoTime(testTime),
    expiration_time: toIsoTime(testTime + 60 * minute),
  })
  later.clock.now += 30 * minute
  const again = await later.signer.prepare(intent)
  expect(again.raw).toBe(raw)
  expect((await later.signer.sign(again)).message).toBe(raw)
  expect(host).toBe('example.com')
})

test('does not sign an intent that expired while waiting', async () => {
  const later = createTestSigner()
  const prepared = await later.prepare(siwe())
  later.clock.now += 61 * minute
  await expect(later.signer.sign(prepared)).rejects.toEqual(
    refusal(/^expiration_time 2026-03-04T06:06:07.089Z has passed/),
  )
  expect(later.keys.lent).toEqual([])
})

test('accepts a port and an address of this computer as host', async () => {
  const { host, fields } = await tested.prepare(siwe({ domain: '127.0.0.1:4000', uri: 'http://127.0.0.1:4000' }))
  expect(host).toBe('127.0.0.1:4000')
  expect(fields.filter(({ kind }) => kind === 'warning')).toEqual([])
})

test.each([
  [
    'another host than that of uri',
    { domain: 'example.org' },
    /^domain "example.org" is not example.com, the host of uri/,
  ],
  ['a host in capitals', { domain: 'Example.com' }, /is not example.com/],
  ['a port that uri does not have', { domain: 'example.com:8443' }, /is not example.com/],
  ['a line within the host', { domain: 'example.com\nURI: https://evil.example' }, /is not example.com/],
  [
    'a user before the host',
    { uri: 'https://example.com@evil.example', domain: 'evil.example' },
    /must not have a user name/,
  ],
  ['a line in the address', { uri: 'https://example.com/\nVersion: 2' }, /^uri must be an ASCII URL/],
  ['a space in the address', { uri: 'https://example.com/a b' }, /^uri must be an ASCII URL/],
  ['a foreign letter in the address', { uri: 'https://еxample.com/' }, /^uri must be an ASCII URL/],
  ['another scheme', { uri: 'ftp://example.com/' }, /^uri must begin with https/],
  ['a statement with a line', { statement: 'a\nURI: https://evil.example' }, /^statement must be one line/],
  ['a statement with quotes', { statement: 'say "yes"' }, /^statement must be one line/],
  ['a time in the future', { issued_at: toIsoTime(testTime + 3 * minute) }, /^issued_at .* is not from the last day/],
  ['a time long ago', { issued_at: toIsoTime(testTime - 26 * 60 * minute) }, /^issued_at .* is not from the last day/],
  ['an end that is past', { expiration_time: toIsoTime(testTime) }, /^expiration_time .* has passed/],
  ['an end in a week', { expiration_time: toIsoTime(testTime + 7 * 24 * 60 * minute) }, /is more than a day after/],
])('refuses %s, on both chains', async (_, over, message) => {
  await expect(tested.prepare(siwe(over))).rejects.toEqual(refusal(message))
  await expect(tested.prepare(siws(over))).rejects.toEqual(refusal(message))
})

test('rejects unknown networks', async () => {
  await expect(tested.prepare(siwe({ chain_id: 1 }))).rejects.toEqual(refusal(/^chain_id 1 is not a supported network/))
  await expect(tested.prepare(siws({ chain_id: 'mainnet\nNonce: x' }))).rejects.toEqual(
    refusal(/^chain_id "mainnet\\nN/),
  )
})

test('warns of test networks, lookalike names and unencrypted connections', async () => {
  const listWarnings = async (intent: IntentInput) =>
    (await tested.prepare(intent)).fields.filter(({ kind }) => kind === 'warning').map(({ value }) => value)
  expect(await listWarnings(siwe({ chain_id: 84532 }))).toEqual(['Base Sepolia is a test network.'])
  expect(await listWarnings(siws({ chain_id: 'solana:devnet' }))).toEqual(['Solana devnet is a test network.'])
  expect(await listWarnings(siwe({ domain: 'xn--pple-43d.com', uri: 'https://xn--pple-43d.com' }))).toEqual([
    'xn--pple-43d.com is shown as “аpple.com”: it mixes letters of several scripts.',
  ])
  expect(await listWarnings(siwe({ domain: 'xn--e1awd7f.com', uri: 'https://xn--e1awd7f.com' }))).toEqual([
    'xn--e1awd7f.com is shown as “еріс.com”: letters of other scripts can imitate a known name.',
  ])
  expect(await listWarnings(siwe({ domain: 'example.org', uri: 'http://example.org' }))).toEqual([
    'The connection to example.org is not encrypted.',
  ])
})
