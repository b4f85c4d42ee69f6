import {
  PERMIT2_ADDRESS,
  uptoPermit2WitnessTypes,
  x402ExactPermit2ProxyAddress,
  x402UptoPermit2ProxyAddress,
} from '@x402/evm'
import { recoverTypedDataAddress } from 'viem'
import { expect, test } from 'vitest'
import type { IntentInput } from '#shared/contract/intents.ts'
import { evmNetworks, permit2 } from '#shared/contract/networks.ts'
import { createTestSigner, refusal, testTime } from '#test/support/fixtures/testSigner.ts'

const tested = createTestSigner()
const { keys } = tested
const payee = '0x5d38E6C1923492247511a01b49e34A26cacD6811'
const facilitator = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

const pay = (over: object = {}): IntentInput => ({
  kind: 'x402.authorize',
  network: 'base',
  pay_to: payee,
  amount: '5000000',
  resource: 'https://api.example.com/pay/5',
  facilitator,
  ...over,
})
type Hex = `0x${string}`

test('uses the x402 contracts for Permit2 and upto rather than exact', () => {
  expect(permit2).toEqual({ address: PERMIT2_ADDRESS, uptoSpender: x402UptoPermit2ProxyAddress })
  expect(permit2.uptoSpender).not.toBe(x402ExactPermit2ProxyAddress)
})

test.each(evmNetworks)('on $name matches the x402 types for one contract and one facilitator', async (network) => {
  const { signature, authorization, permit, address } = await tested.signed(
    pay({ network: network.id, valid_seconds: 60 }),
  )
  const { nonce = '', validBefore = '' } = authorization ?? {}
  expect(permit).toEqual({ token: network.usdc.address, spender: x402UptoPermit2ProxyAddress, facilitator })
  expect(authorization).toEqual({
    ...{ from: keys.evm.address, to: payee, value: '5000000', validAfter: '0' },
    validBefore: String(Math.floor(testTime / 1000) + 60),
    nonce: expect.stringMatching(/^\d+$/),
  })
  const signer = await recoverTypedDataAddress({
    domain: { name: 'Permit2', chainId: network.chainId, verifyingContract: PERMIT2_ADDRESS },
    types: uptoPermit2WitnessTypes,
    primaryType: 'PermitWitnessTransferFrom',
    message: {
      permitted: { token: network.usdc.address, amount: 5_000_000n },
      spender: x402UptoPermit2ProxyAddress,
      ...{ nonce: BigInt(nonce), deadline: BigInt(validBefore) },
      witness: { to: payee, facilitator, validAfter: 0n },
    },
    signature: signature as Hex,
  })
  expect([signer, address]).toEqual([keys.evm.address, keys.evm.address])
})

test('describes the limit and the facilitator that settles it', async () => {
  const { sentence, fields, amountMicroUsd } = await tested.prepare(pay())
  expect(sentence).toBe('Pay up to 5.00 USDC to 0x5d38…6811 on Base for https://api.example.com/pay/5')
  expect(fields).toEqual(
    expect.arrayContaining([
      { label: 'At most', value: '5.00 USDC', kind: 'amount' },
      { label: 'Settled by', value: facilitator, kind: 'address' },
    ]),
  )
  expect(amountMicroUsd).toBe(5_000_000n)
})

test('is valid for 300 seconds at most and for one payment', async () => {
  const [first, second] = await Promise.all([tested.signed(pay({ valid_seconds: 86_400 })), tested.signed(pay())])
  expect(first.authorization?.validBefore).toBe(String(Math.floor(testTime / 1000) + 300))
  expect(first.authorization?.nonce).not.toBe(second.authorization?.nonce)
})

test.each<[string, object, RegExp]>([
  ['the ledger of test money', { network: 'eip155:31337' }, /does not support the scheme upto/],
  ['an unknown network', { network: 'eip155:1' }, /does not support the scheme upto/],
  [
    'Solana',
    { network: 'solana', pay_to: keys.otherSolana.address, fee_payer: keys.solana.address },
    /for payments on EVM/,
  ],
  ['nobody who settles', { facilitator: `0x${'0'.repeat(40)}` }, /facilitator is the zero address/],
  ['the payer as payee', { pay_to: keys.evm.address }, /is “Account 1” of this wallet/],
  ['the contract of USDC as payee', { pay_to: evmNetworks[0].usdc.address.toLowerCase() }, /is the USDC contract/],
  ['an address on Solana as payee', { pay_to: keys.solana.address }, /not a valid address on Base/],
  ['a fee payer', { fee_payer: keys.solana.address }, /fee_payer is for payments on Solana/],
  ['a memo', { memo: 'order 7' }, /memo is for payments on Solana/],
])('refuses %s', async (_, over, message) => {
  await expect(tested.prepare(pay(over))).rejects.toEqual(refusal(message))
})
