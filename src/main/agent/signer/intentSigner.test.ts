import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { IntentInput } from '#shared/contract/intents.ts'
import { createTestSigner, refusal } from '#test/support/fixtures/testSigner.ts'
import type { PreparedIntent, Signer } from './signer.ts'

const message: IntentInput = { kind: 'message', text: 'I agree.' }
// a caller without type checks may pass any value
const asIntent = (it: unknown) => it as Parameters<Signer['prepare']>[0]

test.each([
  ['a kind it does not know', { kind: 'eth.sendTransaction', to: '0x0' }, /kind/],
  ['bytes', { kind: 'message', text: 'a', bytes: '0x1901' }, undefined],
  ['no object', 'sign this', /^The request must be an object/],
  ['nothing', null, /^The request must be an object/],
  ['a field of another type', { kind: 'message', text: 7, chain_type: 'evm' }, /^`text` must be a string/],
  [
    'a chain it does not know',
    { kind: 'message', text: 'a', chain_type: 'bitcoin' },
    /^`chain_type` must be evm or solana/,
  ],
  ['a foreign account id', { kind: 'message', text: 'a', account_id: 'wal_1' }, /^`account_id` must be an id/],
])('accepts only valid intents: %s', async (_, input, reason) => {
  const prepared = createTestSigner().signer.prepare(asIntent(input))
  if (reason) await expect(prepared).rejects.toEqual(refusal(reason))
  else expect((await prepared).intent).not.toHaveProperty('bytes') // unknown fields are dropped
})

test('rejects any input that is not an intent', async () => {
  const { signer, keys } = createTestSigner()
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (input) => {
      await expect(signer.prepare(asIntent(input))).rejects.toEqual(refusal(/./))
    }),
  )
  expect(keys.lent).toEqual([])
})

test('signs only the intent that was shown', async () => {
  const { signer, prepare, keys } = createTestSigner()
  const prepared = await prepare(message)
  const changed: PreparedIntent[] = [
    { ...prepared, raw: 'I agree to all.' },
    { ...prepared, sentence: 'Do nothing.' },
    { ...prepared, intent: asIntent({ ...prepared.intent, text: 'I agree to all.' }) },
    { ...prepared, account: keys.otherEvm },
    { ...prepared, intent: { ...prepared.intent, account_id: keys.otherEvm.id } },
  ]
  for (const altered of changed)
    await expect(signer.sign(altered)).rejects.toEqual(refusal(/^The data to sign no longer matches/))
  expect(keys.lent).toEqual([])
})

test('signatures are deterministic with a low s', async () => {
  const { signed } = createTestSigner()
  const half = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
  for (const text of ['one', 'two', 'three', 'four']) {
    const { signature } = await signed({ kind: 'message', text })
    expect((await signed({ kind: 'message', text })).signature).toBe(signature)
    expect(BigInt(`0x${signature.slice(66, 130)}`) <= half).toBe(true)
  }
})

test('keys are lent only during signing and zeroed afterwards', async () => {
  const { signed, keys } = createTestSigner()
  await signed(message)
  await signed({ ...message, chain_type: 'solana' })
  expect(keys.lent).toEqual([new Uint8Array(32), new Uint8Array(32)])
})

test('rejects a signature by the key of another address', async () => {
  const { signed, keys } = createTestSigner()
  keys.mixUp()
  const damaged = expect.objectContaining({ code: 'wallet/damaged' })
  await expect(signed(message)).rejects.toEqual(damaged)
  await expect(signed({ ...message, chain_type: 'solana' })).rejects.toEqual(damaged)
})

test('prepares while the wallet is locked and signs once unlocked', async () => {
  const { signer, prepare, keys } = createTestSigner()
  keys.lock()
  const prepared = await prepare(message)
  await expect(signer.sign(prepared)).rejects.toEqual(expect.objectContaining({ code: 'wallet/locked' }))
})

test('rejects an account of another chain', async () => {
  const { prepare, keys } = createTestSigner()
  const intent = prepare({ ...message, account_id: keys.solana.id })
  await expect(intent).rejects.toEqual(expect.objectContaining({ code: 'wallet/account-not-found' }))
})
