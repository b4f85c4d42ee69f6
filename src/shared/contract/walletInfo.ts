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
    'Returns the default account of the chain. If the network does not respond, `source` is `stale`. Fails with 409 `wallet/absent`, 404 `wallet/account-not-found` if the chain has no account, or 400 `chain/unknown`.',
  tag: 'Wallet',
  auth: 'client',
  refusals: [404, 409],
  query: z.object({
    network: z
      .string()
      .max(64)
      .default('eip155:8453')
      .describe('Id, slug or chain id. `eip155:31337` is the test ledger of your service; `solana` is Solana.'),
  }),
  response: z.object({
    address: z.string(),
    network: z.string(),
    network_name: z.string(),
    chain_id: z.int().nullable().describe('Chain id. Null on Solana.'),
    test: z.boolean(),
    usdc: z
      .string()
      .nullable()
      .describe('Balance in millionths of a USDC, as a decimal string. Null if it has never been read.'),
    usdc_balance: z.string().nullable().describe('Human-readable balance, such as `12.50`.'),
    usdc_address: z.string(),
    source: z.enum(['live', 'stale']),
    as_of: IsoTime.nullable(),
    detail: z.string().nullable().describe('Reason why the balance is stale.'),
    deposit_link: z
      .string()
      .nullable()
      .describe(
        'EIP-681 or Solana Pay link that opens a wallet to send USDC. Null for the test ledger, which has a faucet.',
      ),
  }),
})
