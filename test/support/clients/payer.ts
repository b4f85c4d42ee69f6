import { randomBytes } from 'node:crypto'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { PaymentAuthorization } from '#service/payments/paymentAuthorization.ts'
import { type EvmNetwork, testLedgerNetwork } from '#shared/contract/networks.ts'

/** Independent payer that signs typed data with viem. */
export type Payer = {
  address: `0x${string}`
  account: ReturnType<typeof privateKeyToAccount>
  /** Creates a valid authorization; options override its fields. */
  authorize(
    fields: Pick<PaymentAuthorization, 'to' | 'value'> & Partial<PaymentAuthorization>,
  ): Promise<PaymentAuthorization>
}

export function createPayer(network: EvmNetwork = testLedgerNetwork, now: () => number = Date.now): Payer {
  const account = privateKeyToAccount(generatePrivateKey())
  return {
    address: account.address,
    account,
    async authorize(fields) {
      const message = {
        from: account.address,
        validAfter: '0',
        validBefore: String(Math.floor(now() / 1000) + 300),
        nonce: `0x${randomBytes(32).toString('hex')}` as const,
        ...fields,
      }
      const { name, version, address } = network.usdc
      const signature = await account.signTypedData({
        domain: { name, version, chainId: network.chainId, verifyingContract: address },
        types: transferTypes,
        primaryType: 'TransferWithAuthorization',
        message: {
          ...message,
          value: BigInt(message.value),
          validAfter: BigInt(message.validAfter),
          validBefore: BigInt(message.validBefore),
        },
      })
      return { ...message, signature: fields.signature ?? signature }
    },
  }
}

const transferTypes = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** Converts to lower case, the form that the service uses internally. */
export function lowerCase(authorization: PaymentAuthorization): PaymentAuthorization {
  const { from, to, nonce, signature } = authorization
  const low = (text: string) => text.toLowerCase() as `0x${string}` // the input is hexadecimal
  return { ...authorization, from: low(from), to: low(to), nonce: low(nonce), signature: low(signature) }
}

/** Encodes the payment header in either version, as clients do. */
export function paymentHeader(
  version: 1 | 2,
  { signature, ...authorization }: PaymentAuthorization,
  fields: { scheme?: string; network?: string; asset?: string } = {},
): Record<string, string> {
  const { scheme = 'exact', network = testLedgerNetwork.id, asset = testLedgerNetwork.usdc.address } = fields
  const payload = { signature, authorization }
  const payment =
    version === 1
      ? { x402Version: 1, scheme, network, payload }
      : {
          x402Version: 2,
          payload,
          accepted: {
            ...{ scheme, network, asset, amount: authorization.value, payTo: authorization.to },
            ...{ maxTimeoutSeconds: 300, extra: {} },
          },
        }
  const text = Buffer.from(JSON.stringify(payment)).toString('base64')
  return version === 1 ? { 'x-payment': text } : { 'payment-signature': text }
}
