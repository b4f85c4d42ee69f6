import { z } from 'zod'
import { IsoTime } from '../time.ts'

import { defineRoute } from './route.ts'

/** Returns the account that pays by default. */
export const getWalletInfo = defineRoute({
  operation: 'walletInfo',
  method: 'GET',
  path: '/local/wallet/info',
  summary: 'Get the address, USDC balance and deposit link of the paying account',
  description:
    'Shows the default account of the chain. Fails with 409 `wallet/absent`, 404 `wallet/account-not-found` with no account of that chain, or 400 `chain/unknown`. If the network does not answer, `source` is `stale`.',
  tag: 'Wallet',
  auth: 'client',
  refusals: [404, 409],
  query: z.object({
    network: z
      .string()
      .max(64)
      .default('eip155:8453')
      .describe('Id, slug or chain id; `eip155:31337` is the test ledger of the own service, `solana` Solana.'),
  }),
  response: z.object({
    address: z.string(),
    network: z.string(),
    network_name: z.string(),
    chain_id: z.int().nullable().describe('Null on Solana.'),
    test: z.boolean(),
    usdc: z.string().nullable().describe('Millionths of a USDC, decimal; null: never read.'),
    usdc_balance: z.string().nullable().describe('For people: `12.50`.'),
    usdc_address: z.string(),
    source: z.enum(['live', 'stale']),
    as_of: IsoTime.nullable(),
    detail: z.string().nullable().describe('Why it is stale.'),
    deposit_link: z
      .string()
      .nullable()
      .describe(
        'Link that wallets open to send USDC, of EIP-681 or Solana Pay; null for the test ledger, which has a faucet.',
      ),
  }),
})
