import { expect, test } from 'vitest'
import type { SignedIntent } from '#shared/contract/intents.ts'
import type { PaymentId } from '#shared/contract/paymentRecords.ts'
import { identifierDeclaration, paymentIdentifierName } from '#shared/paymentIdentifier.ts'
import { createOffer } from '#test/support/fakes/hostileSeller.ts'
import { parseRequirements } from './parseRequirements.ts'
import { createPaymentPayload, parseReceipt } from './paymentPayload.ts'

const id = 'pay_0123456789abcdef01234567' as PaymentId // the type is branded
const url = 'https://shop.example/report'
const authorization = {
  ...{ from: '0x1', to: '0x2', value: '1', validAfter: '0', validBefore: '1', nonce: '0x3' },
} as NonNullable<SignedIntent['authorization']> // not read here
const result = { signature: '0x00', authorization } as SignedIntent // not read here

function createPayload(extensions: unknown) {
  const [read] = parseRequirements({
    x402Version: 2,
    accepts: [createOffer({ network: 'eip155:8453', amount: '10000' })],
    extensions,
  })
  if (!read) throw new Error('There is no offer.')
  const payload = createPaymentPayload({
    version: 2,
    raw: read.raw,
    url,
    result,
    identifier: { declared: read.identifier, id },
  })
  return JSON.parse(Buffer.from(payload.value, 'base64').toString('utf8'))
}

test('returns the payment identifier extension with the payment id to the seller', () => {
  const declared = { ...identifierDeclaration, info: { required: true, more: 1 } }
  expect(createPayload({ [paymentIdentifierName]: declared, other: {} }).extensions).toEqual({
    [paymentIdentifierName]: { ...declared, info: { required: true, more: 1, id } },
  })
})

test.each([
  ['no extension', undefined],
  ['another extension', { bazaar: { info: {} } }],
  ['a declaration that is none', { [paymentIdentifierName]: 'yes' }],
  ['a declaration without end', { [paymentIdentifierName]: { info: {}, schema: 'x'.repeat(10_000) } }],
])('adds no payment identifier for a seller that declares %s', (_, extensions) => {
  expect(createPayload(extensions).extensions).toBeUndefined()
})

test('preserves receipt extensions up to a size limit', () => {
  const receipt = (extensions: object) =>
    parseReceipt({
      'payment-response': Buffer.from(JSON.stringify({ success: true, extensions })).toString('base64'),
    })
  const signed = { 'offer-receipt': { info: { receipt: { signature: '0x1' } } } }
  expect(receipt(signed)?.extensions).toEqual(signed)
  expect(receipt({ much: 'x'.repeat(20_000) })?.extensions).toBeUndefined()
})
