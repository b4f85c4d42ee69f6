import { verifyTypedData as ethersVerify } from 'ethers'
import fc from 'fast-check'
import { recoverTypedDataAddress } from 'viem'
import { expect, test } from 'vitest'
import type { IntentInput } from '#shared/contract/intents.ts'
import { evmNetworks } from '#shared/contract/networks.ts'
import { createTestSigner, refusal, testTime } from '#test/support/fixtures/testSigner.ts'

const tested = createTestSigner()
const { keys } = tested
const payee = '0x5d38E6C1923492247511a01b49e34A26cacD6811'

const pay = (over: object = {}): IntentInput => ({
  kind: 'x402.authorize',
  network: 'base',
  pay_to: payee,
  amount: '5000000',
  resource: 'https://api.example.com/pay/5',
  ...over,
})
const types = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

test.each([
  ['base', 8453, '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 'USD Coin'],
  ['eip155:84532', 84532, '0x036CbD53842c5426634e7929541eC2318f3dCF7e', 'USDC'],
] as const)(
  'signs for the USDC contract of %s from an internal table',
  async (network, chainId, verifyingContract, name) => {
    const { signature, authorization } = await tested.signed(pay({ network, valid_seconds: 60 }))
    const domain = { name, version: '2', chainId, verifyingContract }
    expect(authorization).toEqual({
      from: keys.evm.address,
      to: payee,
      value: '5000000',
      validAfter: '0',
      validBefore: String(Math.floor(testTime / 1000) + 60),
      nonce: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    })
    const { from = '', to = '', value = '', validAfter = '', validBefore = '', nonce = '' } = authorization ?? {}
    const message = {
      from: from as `0x${string}`,
      to: to as `0x${string}`,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
      nonce: nonce as `0x${string}`,
    }
    const data = { domain, types, primaryType: 'TransferWithAuthorization', message } as const
    expect(await recoverTypedDataAddress({ ...data, signature: signature as `0x${string}` })).toBe(keys.evm.address)
    const list = { TransferWithAuthorization: [...types.TransferWithAuthorization] }
    expect(ethersVerify(domain, list, message, signature)).toBe(keys.evm.address)
  },
)

test('is valid for 300 seconds at most from signing, with a unique nonce', async () => {
  const later = createTestSigner()
  const prepared = await later.prepare(pay({ valid_seconds: 86_400 }))
  later.clock.now += 3_600_000
  const first = await later.signer.sign(prepared)
  const second = await later.signer.sign(prepared)
  expect(first.authorization?.validBefore).toBe(String(Math.floor(later.clock.now / 1000) + 300))
  expect(first.authorization?.nonce).not.toBe(second.authorization?.nonce)
})

test('describes the exact payment', async () => {
  const { sentence, fields, host, amountMicroUsd, raw } = await tested.prepare(
    pay({ amount: '1234567', description: '5 credits' }),
  )
  expect(sentence).toBe('Pay 1.234567 USDC to 0x5d38…6811 on Base for https://api.example.com/pay/5')
  expect(fields.slice(0, 2)).toEqual([
    { label: 'Amount', value: '1.234567 USDC', kind: 'amount' },
    { label: 'To', value: payee, kind: 'address' },
  ])
  expect(host).toBe('api.example.com')
  expect(amountMicroUsd).toBe(1_234_567n)
  expect(JSON.parse(raw)).toMatchObject({
    domain: { name: 'USD Coin', chainId: 8453 },
    message: { value: '1234567', validBefore: '300 seconds from when it is signed' },
  })
})

test('warns of a network where money is worth nothing', async () => {
  const { fields } = await tested.prepare(pay({ network: 'base-sepolia' }))
  expect(fields.at(-1)).toMatchObject({ kind: 'warning', value: 'Money on Base Sepolia is worth nothing.' })
})

test.each([
  ['an unknown network', { network: 'eip155:1' }, /^network "eip155:1" is not a supported network/],
  ['the zero address', { pay_to: `0x${'0'.repeat(40)}` }, /^pay_to is the zero address/],
  ['an own account', { pay_to: keys.otherEvm.address.toLowerCase() }, /is “Account 2” of this wallet/],
  ['the payer', { pay_to: keys.evm.address }, /is “Account 1” of this wallet/],
  ['the contract of USDC', { pay_to: evmNetworks[0].usdc.address.toLowerCase() }, /is the USDC contract on Base:/],
  ['a payee with a wrong checksum', { pay_to: payee.replace('5d38E', '5D38e') }, /has a wrong checksum/],
  ['a resource without a host', { resource: 'data:text/plain,hello' }, /^resource must begin with https/],
  ['a resource with a space', { resource: 'https://a.example/a free' }, /^resource must be an ASCII URL/],
  ['a description that turns around', { description: 'a\u202eb' }, /^description contains U\+202E/],
])('refuses %s', async (_, over, message) => {
  await expect(tested.prepare(pay(over))).rejects.toEqual(refusal(message))
})

test.each(['0', '-1', '1.5', '1e6', '0x10', '', '01', '9'.repeat(19)])('rejects the amount %j', async (amount) => {
  // Bypasses the schema of the local API, because the signer must validate the intent itself.
  const intent = { ...pay(), amount, valid_seconds: 300 } as Parameters<typeof tested.signer.prepare>[0]
  await expect(tested.signer.prepare(intent)).rejects.toEqual(refusal(/^`amount` must be a decimal number/))
})

test('the signed amount always equals the shown one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.bigInt({ min: 1n, max: 10n ** 18n - 1n }), async (amount) => {
      const { fields, amountMicroUsd } = await tested.prepare(pay({ amount: String(amount) }))
      const amountText = (fields[0]?.value ?? '').replace(' USDC', '').replaceAll(',', '')
      const [whole = '', fraction = ''] = amountText.split('.')
      expect(BigInt(whole + fraction.padEnd(6, '0'))).toBe(amount)
      expect(amountMicroUsd).toBe(amount)
    }),
  )
})
