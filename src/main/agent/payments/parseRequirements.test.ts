import { expect, test } from 'vitest'
import { readRequirements } from './parseRequirements.ts'

/** Hostile offers, most of which demand an unintended payment. */
const payTo = '0x5d38E6C1923492247511a01b49e34A26cacD6811'
const usdc = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const good = {
  scheme: 'exact',
  network: 'base',
  maxAmountRequired: '0010000',
  asset: usdc,
  payTo,
  maxTimeoutSeconds: 60,
}
const second = { scheme: 'exact', network: 'eip155:8453', amount: '10000', asset: usdc, payTo, maxTimeoutSeconds: 60 }

const v1 = (...accepts: unknown[]) => JSON.stringify({ x402Version: 1, accepts })
const v2 = (...accepts: unknown[]) => ({
  'payment-required': Buffer.from(JSON.stringify({ x402Version: 2, accepts })).toString('base64'),
})
const read = (over: object) => readRequirements({}, v1({ ...good, ...over }))[0]?.offer

test('reads each version from any source and zero-padded amounts', () => {
  const expected = { network: 'eip155:8453', amount: '10000', amount_micro_usd: 10_000, payable: true, problem: null }
  expect(readRequirements({}, v1(good))[0]?.offer).toMatchObject({ ...expected, x402_version: 1 })
  expect(readRequirements(v2(second), '')[0]?.offer).toMatchObject({ ...expected, x402_version: 2 })
  const header = { 'x-payment-required': Buffer.from(v1(good)).toString('base64') }
  expect(readRequirements(header, '<html>')[0]?.offer).toMatchObject({ ...expected, x402_version: 1 })
  expect(
    readRequirements({ 'payment-required': JSON.stringify({ x402Version: 2, accepts: [second] }) }, ''),
  ).toHaveLength(1)
})

test('preserves the raw offer for the reply to the seller', () => {
  const sentOption = { ...second, extra: { name: 'Evil', version: '9', nested: [1] }, unknown: true }
  expect(readRequirements(v2(sentOption), '')[0]?.raw).toEqual(sentOption)
})

test.each([
  ['another scheme', { scheme: 'batch-settlement' }, 'scheme “batch-settlement”'],
  ['a scheme that takes as it likes', { scheme: 'auth-capture' }, 'scheme “auth-capture”'],
  ['a scheme in other letters', { scheme: 'Exact' }, 'scheme “Exact”'],
  ['another network', { network: 'eip155:1' }, 'network “eip155:1”'],
  ['a bare chain id', { network: '8453' }, 'network “8453”'],
  ['a network that only looks like ours', { network: 'base ' }, 'network “base”'],
  ['another token', { asset: '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42' }, 'is not USDC on Base'],
  ['the USDC of another network', { network: 'base-sepolia' }, 'is not USDC on Base Sepolia'],
  ['a payee that is none', { payTo: 'alice.eth' }, '“alice.eth” is not a valid address'],
  ['a payee on Solana', { payTo: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T' }, 'is not a valid address'],
  ['nothing', { maxAmountRequired: '0' }, 'The option has no amount.'],
  ['more than there is', { maxAmountRequired: '9'.repeat(60) }, 'above the maximum'],
  ['no time to pay', { maxTimeoutSeconds: 1 }, 'too short'],
])('does not pay %s and reports the reason', (_, over, problem) => {
  expect(read(over)).toMatchObject({ payable: false, problem: expect.stringContaining(problem) })
})

test.each([
  ['a negative amount', { maxAmountRequired: '-5' }],
  ['a hexadecimal amount', { maxAmountRequired: '0x10' }],
  ['an amount in exponents', { maxAmountRequired: '1e9' }],
  ['a number in the place of text', { maxAmountRequired: 5 }],
  ['a payee that is an object', { payTo: { toString: 'x' } }],
  ['an amount of a million digits', { maxAmountRequired: '1'.repeat(1_000_000) }],
])('does not parse %s', (_, over) => {
  expect(read(over)).toBeUndefined()
})

test.each([
  ['nothing', {}, ''],
  ['no JSON', {}, '{"x402Version":1,'],
  ['an array', {}, '[]'],
  ['null', {}, 'null'],
  ['a version of tomorrow', {}, JSON.stringify({ x402Version: 3, accepts: [good] })],
  ['no offers', {}, v1()],
  ['broken base64', { 'payment-required': '%%%%' }, ''],
  ['deep nesting', {}, `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
  ['a prototype', {}, '{"x402Version":1,"accepts":[{"__proto__":{"scheme":"exact"}}]}'],
])('finds no offer in %s', (_, headers, body) => {
  expect(readRequirements(headers, body)).toEqual([])
})

test('reads at most 20 offers and strips bidirectional characters from descriptions', () => {
  expect(readRequirements({}, v1(...Array.from({ length: 1_000 }, () => good)))).toHaveLength(20)
  const description = 'Pay \u202e00.1\u202c\n\u0000 now\u200b'
  expect(read({ description })?.description).toBe('Pay 00.1 now')
})

test('reads an offer of test money as payable', () => {
  const asset = '0x7357000000000000000000000000000000031337'
  expect(read({ network: 'eip155:31337', asset })).toMatchObject({ payable: true, test: true })
})

const feePayer = '2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4'
const onSolana = {
  ...{ network: 'solana', asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' },
  ...{ payTo: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T', extra: { feePayer } },
}

test('reads only fee payer and memo from a Solana offer', () => {
  const extra = { feePayer, memo: 'order 7', computeUnitPrice: 9_000_000, instructions: ['evil'], recentBlockhash: 'x' }
  const [option] = readRequirements({}, v1({ ...good, ...onSolana, extra }))
  expect(option?.offer).toMatchObject({ network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', amount_micro_usd: 10_000 })
  expect([option?.offer.payable, option?.solana]).toEqual([true, { feePayer, memo: 'order 7' }])
})

test.each([
  ['the USDC of Devnet', { asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU' }, 'is not USDC on Solana'],
  ['a mint in other letters', { asset: onSolana.asset.toLowerCase() }, 'is not USDC on Solana'],
  ['another cluster', { network: 'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z' }, 'does not support the network'],
  ['a scheme that takes as it likes', { scheme: 'auth-capture' }, 'scheme “auth-capture”'],
  ['an EVM payee', { payTo }, 'is not a valid address on Solana'],
  ['no fee payer', { extra: {} }, 'no fee payer'],
  ['nothing beside', { extra: undefined }, 'no fee payer'],
  ['a fee payer that is no text', { extra: { feePayer: { toString: 'x' } } }, 'no fee payer'],
  ['Token-2022', { extra: { feePayer, tokenProgram: 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' } }, 'token program'],
  ['the mint as fee payer', { extra: { feePayer: onSolana.asset } }, 'USDC mint'],
  ['a memo that is no text', { extra: { feePayer, memo: { a: 1 } } }, 'memo is not text'],
  ['a memo without end', { extra: { feePayer, memo: 'x'.repeat(257) } }, 'longer than 256 bytes'],
  ['a memo that turns text around', { extra: { feePayer, memo: 'a\u202eb' } }, 'invisible characters'],
  ['more than there is', { maxAmountRequired: String(2n ** 64n) }, 'above the maximum'],
])('does not pay on Solana for %s and reports the reason', (_, over, problem) => {
  expect(read({ ...onSolana, ...over })).toMatchObject({ payable: false, problem: expect.stringContaining(problem) })
})
