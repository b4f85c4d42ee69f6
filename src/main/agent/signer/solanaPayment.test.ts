import { base58 } from '@scure/base'
import {
  decompileTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  verifySignature,
} from '@solana/kit'
import { findAssociatedTokenPda, parseTransferCheckedInstruction, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import fc from 'fast-check'
import nacl from 'tweetnacl'
import { describe, expect, test } from 'vitest'
import { readTransactionNonce } from '#platform/solana/solanaTransaction.ts'
import type { IntentInput } from '#shared/contract/intents.ts'
import { solanaNetworks } from '#shared/contract/networks.ts'
import { createTestSigner, refusal, testTime } from '#test/support/fixtures/testSigner.ts'

/** Compares with Solana's own library, which must decode the built transaction byte for byte. */
const blockHash = base58.encode(new Uint8Array(32).fill(5))
const tested = createTestSigner(undefined, async () => blockHash)
const { keys } = tested
const createAddress = (digit: number) =>
  base58.encode(nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(digit)).publicKey)
const payee = createAddress(1)
const feePayer = createAddress(2)

const pay = (over: object = {}): IntentInput => ({
  kind: 'x402.authorize',
  network: 'solana',
  pay_to: payee,
  amount: '5000000',
  resource: 'https://api.example.com/pay/5',
  fee_payer: feePayer,
  ...over,
})

const read = (wire = '') => {
  const { messageBytes, signatures } = getTransactionDecoder().decode(Buffer.from(wire, 'base64'))
  const compiled = getCompiledTransactionMessageDecoder().decode(messageBytes)
  return { messageBytes, signatures, compiled, message: decompileTransactionMessage(compiled) }
}

test.each(solanaNetworks)('on $name the transaction decodes with the Solana library and its USDC', async (network) => {
  const { id, usdc } = network
  const { transaction, authorization, signature, address } = await tested.signed(pay({ network: id, memo: 'order 7' }))
  expect(address).toBe(keys.solana.address)
  const { message, compiled, messageBytes, signatures } = read(transaction)
  expect([compiled.version, compiled.header, compiled.lifetimeToken]).toEqual([
    0,
    { numSignerAccounts: 2, numReadonlySignerAccounts: 1, numReadonlyNonSignerAccounts: 4 },
    blockHash,
  ])
  expect('addressTableLookups' in compiled && compiled.addressTableLookups).toBeFalsy()
  const [limit, price, transfer, memo, ...others] = message.instructions
  expect([message.feePayer.address, others]).toEqual([feePayer, []])
  const budget = [limit, price].map((instruction) => [
    instruction?.programAddress,
    Buffer.from(instruction?.data ?? []).toString('hex'),
  ])
  const computeBudget = 'ComputeBudget111111111111111111111111111111'
  expect(budget).toEqual([
    [computeBudget, '0260ea0000'], // SetComputeUnitLimit of 60,000
    [computeBudget, '030100000000000000'], // SetComputeUnitPrice of 1
  ])
  const findTokenAccount = async (owner: string) =>
    (
      await findAssociatedTokenPda({
        owner: owner as never,
        mint: usdc.address as never,
        tokenProgram: TOKEN_PROGRAM_ADDRESS,
      })
    )[0]
  const { accounts, data, programAddress } = parseTransferCheckedInstruction(transfer as never)
  expect(programAddress).toBe(TOKEN_PROGRAM_ADDRESS)
  expect(data).toMatchObject({ amount: 5_000_000n, decimals: 6 })
  expect([
    accounts.source.address,
    accounts.mint.address,
    accounts.destination.address,
    accounts.authority.address,
  ]).toEqual([
    await findTokenAccount(keys.solana.address),
    usdc.address,
    await findTokenAccount(payee),
    keys.solana.address,
  ])
  expect(Buffer.from(memo?.data ?? []).toString()).toBe('order 7')
  expect(memo?.accounts ?? []).toEqual([])

  expect(Object.entries(signatures).map(([address, signature]) => [address, signature !== null])).toEqual([
    [feePayer, false],
    [address, true],
  ])
  const key = await crypto.subtle.importKey('raw', Uint8Array.from(base58.decode(address)), 'Ed25519', true, ['verify'])
  expect(await verifySignature(key, base58.decode(signature) as never, messageBytes as never)).toBe(true)
  const nonce = `${blockHash}:${signature}`
  expect(authorization).toEqual({
    ...{ from: address, to: payee, value: '5000000', validAfter: '0', nonce },
    validBefore: String(Math.floor(testTime / 1000) + 120),
  })
  expect(await readTransactionNonce(transaction ?? '')).toBe(nonce)
})

test('preserves any payee and amount, and never repeats a payment', async () => {
  const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 })
  await fc.assert(
    fc.asyncProperty(seeds, fc.bigInt({ min: 1n, max: 10n ** 18n - 1n }), async (seed, amount) => {
      const to = base58.encode(nacl.sign.keyPair.fromSeed(seed).publicKey)
      const wish = pay({ pay_to: to, amount: String(amount) })
      const [first, second] = await Promise.all([tested.signed(wish), tested.signed(wish)])
      const { data } = parseTransferCheckedInstruction(read(first.transaction).message.instructions[2] as never)
      expect(data.amount).toBe(amount)
      expect(first.transaction).not.toBe(second.transaction)
    }),
    { numRuns: 20 },
  )
})

test('shows the user everything the transaction moves', async () => {
  const { sentence, fields, raw, amountMicroUsd } = await tested.prepare(pay({ memo: 'order 7' }))
  expect(sentence).toMatch(/^Pay 5\.00 USDC to .+ on Solana for https:\/\/api\.example\.com\/pay\/5$/)
  expect(amountMicroUsd).toBe(5_000_000n)
  const values = fields.map(({ value }) => value)
  expect(values).toEqual(expect.arrayContaining([payee, feePayer, 'order 7', keys.solana.address, 'Solana']))
  expect(raw).toContain('"amount": "5000000"')
})

describe('refuses', () => {
  const [mainnet] = solanaNetworks
  test.each<[string, object, RegExp]>([
    ['a fee payer that is the payer', { fee_payer: keys.solana.address }, /you would pay yourself/],
    ['another account of the wallet as fee payer', { fee_payer: keys.otherSolana.address }, /you would pay yourself/],
    ['no fee payer', { fee_payer: undefined }, /fee_payer is required/],
    ['a payee that is the payer', { pay_to: keys.solana.address }, /you would pay yourself/],
    ['the mint as payee', { pay_to: mainnet.usdc.address }, /USDC mint/],
    ['the token program as payee', { pay_to: TOKEN_PROGRAM_ADDRESS }, /Solana program/],
    ['Token-2022 as payee', { pay_to: 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' }, /Solana program/],
    ['the system program as fee payer', { fee_payer: '1'.repeat(32) }, /Solana program/],
    ['an address of 31 bytes', { pay_to: base58.encode(new Uint8Array(31).fill(9)) }, /not a Solana address/],
    ['an EVM address', { pay_to: `0x${'1'.repeat(40)}` }, /not a Solana address/],
    ['an address on Solana for Base', { network: 'base', fee_payer: undefined }, /must be 0x/],
    ['a fee payer on Base', { network: 'base', pay_to: `0x${'1'.repeat(40)}` }, /fee_payer is for payments on Solana/],
    ['another cluster', { network: 'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z' }, /not a supported network/],
    ['a memo that turns text around', { memo: 'a\u202eb' }, /memo contains U\+202E/],
    ['a memo over 256 bytes', { memo: 'é'.repeat(129) }, /memo has 258 bytes/],
  ])('%s', async (_, over, message) => {
    await expect(tested.prepare(pay(over))).rejects.toEqual(refusal(message))
  })

  test('the token account of the payer or the payee as fee payer', async () => {
    for (const owner of [keys.solana.address, payee]) {
      const seeds = { owner: owner as never, mint: mainnet.usdc.address as never, tokenProgram: TOKEN_PROGRAM_ADDRESS }
      const [account] = await findAssociatedTokenPda(seeds)
      await expect(tested.prepare(pay({ fee_payer: account }))).rejects.toEqual(refusal(/takes part in the transfer/))
    }
  })

  test.each(['', 'x', '0x1234', base58.encode(new Uint8Array(33).fill(9)), `${'1'.repeat(31)}0`])(
    'a node whose block hash is %j',
    async (hash) => {
      const { signed } = createTestSigner(undefined, async () => hash)
      await expect(signed(pay())).rejects.toEqual(refusal(/returned no block hash/))
    },
  )

  test('every payment without a configured Solana node', async () => {
    await expect(createTestSigner().signed(pay())).rejects.toEqual(refusal(/no RPC endpoint is configured/))
  })

  test('bytes not signed by the account', async () => {
    const { keys: mixed, signed } = createTestSigner(undefined, async () => blockHash)
    mixed.mixUp()
    await expect(signed(pay())).rejects.toMatchObject({ code: 'wallet/damaged' })
  })
})

test('warns of a payee address without a key', async () => {
  const seeds = {
    owner: payee as never,
    mint: solanaNetworks[0].usdc.address as never,
    tokenProgram: TOKEN_PROGRAM_ADDRESS,
  }
  const [account] = await findAssociatedTokenPda(seeds)
  const { fields } = await tested.prepare(pay({ pay_to: account }))
  expect(fields).toContainEqual(expect.objectContaining({ label: 'Payee', kind: 'warning' }))
})
