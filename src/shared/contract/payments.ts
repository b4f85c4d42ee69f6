import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'

/** Headers of x402: https://docs.x402.org */
export const paymentHeaders = {
  /** Headers of a 402 response: version 2, and version 1 for HEAD requests. */
  required: { v2: 'payment-required', v1: 'x-payment-required' },
  /** Headers of the paying request. */
  payment: { v2: 'payment-signature', v1: 'x-payment' },
  /** Headers of the response to the paying request. */
  receipt: { v2: 'payment-response', v1: 'x-payment-response' },
} as const

const Address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hexadecimal digits')

/** Paragraph about x402 payments in route descriptions. */
export const x402 =
  'Without a payment, the response is 402 with the price, in the format of x402 version 1 (body and `X-Payment-Required`) and version 2 (`PAYMENT-REQUIRED`). Send the request again with `X-PAYMENT` or `PAYMENT-SIGNATURE`. Repeating the request with the same payment returns the first response again. 503 `payments/unknown`: the outcome of the payment is not known yet; send the same payment again, and do not sign a new one.'

export const buyCredits = defineRoute({
  operation: 'creditsBuy',
  method: 'GET',
  path: '/pay/:amount_usd/:address',
  summary: 'Buy credits for an account with USDC',
  description: x402,
  sold: true,
  idempotent: true,
  tag: 'Credits',
  auth: 'none',
  refusals: [402, 409],
  params: z.object({
    amount_usd: z
      .string()
      .regex(/^[1-9]\d{0,8}$/, 'must be a whole number of dollars')
      .describe('Amount: one of the `payment_tiers` of `GET /v1/credits/pricing`.'),
    address: z
      .string()
      .max(128, 'must have at most 128 characters')
      .describe('Recipient of the credits: a wallet that is linked to an account at this service, or an account id.'),
  }),
  response: z.object({
    success: z.literal(true),
    credits_cents: z.number().describe('Credits added, in cents.'),
    tx_hash: z.string().describe('Hash of the payment transaction.'),
  }),
})

export const listPaidResources = defineRoute({
  operation: 'paymentsDiscovery',
  method: 'GET',
  path: '/.well-known/x402',
  summary: 'List the paid resources of this service (x402)',
  description:
    'Returns the x402 discovery document, in the format that indexes of paid resources read. The 402 response of each resource contains its price. Fails with 503 if the service accepts no payments.',
  tag: 'Service',
  auth: 'none',
  refusals: [503],
  response: z.object({
    version: z.literal(1).describe('Version of the document format.'),
    resources: z
      .array(z.string())
      .describe(
        'Addresses of the resources. `{name}` is a path parameter, as in the OpenAPI document of this service.',
      ),
    instructions: z.string().describe('Instructions for users and agents.'),
  }),
})

const testMoney = 'Available only if the service accepts test money; otherwise 404.'

export const giveTestMoney = defineRoute({
  operation: 'paymentsFaucet',
  method: 'POST',
  path: '/v1/payments/faucet',
  summary: 'Credit 100 test USDC to an address',
  description: `${testMoney} API keys with limits cannot use this route.`,
  example: { address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
  tag: 'Credits',
  auth: 'owner',
  refusals: [404],
  body: z.object({ address: Address }),
  response: z.object({
    address: z.string(),
    amount: z.string().describe('Amount added, in millionths of a test USDC.'),
    balance: z.string().describe('Balance of the address after the credit, in millionths of a test USDC.'),
    network: z.string(),
    asset: z.string(),
  }),
  idempotent: true,
})

export const getTestBalance = defineRoute({
  operation: 'paymentsBalance',
  method: 'GET',
  path: '/v1/payments/balance/:address',
  summary: 'Get the test USDC balance of an address',
  description: testMoney,
  tag: 'Credits',
  params: z.object({ address: Address }),
  response: z.object({
    address: z.string(),
    balance: z.string().describe('Balance in millionths of a test USDC.'),
    network: z.string(),
    asset: z.string(),
  }),
})

export const getAuthorizationState = defineRoute({
  operation: 'paymentsAuthorization',
  method: 'GET',
  path: '/v1/payments/authorizations/:address/:nonce',
  summary: 'Check whether a signed payment of test money was used',
  description: `Corresponds to \`authorizationState\` on a chain with real money. ${testMoney}`,
  tag: 'Credits',
  params: z.object({
    address: Address,
    nonce: z.string().regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hexadecimal digits'),
  }),
  response: z.object({
    used: z.boolean(),
    transaction: z.string().nullable().describe('Transaction that used the payment.'),
    at: IsoTime.describe(
      'Ledger time, which determines whether a payment has expired. An unused payment that has expired stays unused.',
    ),
  }),
})
