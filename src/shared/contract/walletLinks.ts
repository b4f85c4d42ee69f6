import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'
import { ChainType, WalletAccountId } from './wallet.ts'

/** Wallet that signs in to the account at the service, or an account of this wallet that can be linked. */
export const WalletLink = z.object({
  address: z.string(),
  chain_type: ChainType,
  linked: z.boolean(),
  linked_at: IsoTime.nullable(),
  linked_by: z.string().nullable().default(null).describe('Address of the wallet whose sign-in linked it, if any.'),
  by_steward: z.boolean().describe('Steward linked it by itself, and unlinks it when it is removed from the wallet.'),
  account_id: WalletAccountId.nullable().describe('Null: it is not in the wallet of this computer.'),
  label: z.string().nullable(),
})
export type WalletLink = z.infer<typeof WalletLink>

/** Wallets linked to the account at the service, and accounts of this wallet that can be linked. */
export const WalletLinks = z.object({ links: z.array(WalletLink) })
export type WalletLinks = z.infer<typeof WalletLinks>

export const listWalletLinks = defineRoute({
  operation: 'walletLinkList',
  method: 'GET',
  path: '/local/wallet/links',
  summary: 'List the wallets of your account at the service, and accounts to link',
  description:
    'Links come from the service; of this wallet, unlinked default accounts (EVM and Solana) follow. Only the window of Steward can list them.',
  tag: 'Wallet',
  auth: 'person',
  response: WalletLinks,
})

export const addWalletLink = defineRoute({
  operation: 'walletLinkAdd',
  method: 'POST',
  path: '/local/wallet/links',
  summary: 'Link an account of this wallet to your account at the service',
  description:
    'Requests the signature of a sign-in message. Fails with 423 `wallet/locked` for a locked wallet, 409 `auth/wallet-linked` for a wallet of another account. Denied, or not approved in 4.5 minutes: 403 `intent/denied`.',
  example: { account_id: 'wal_5f0c1a9e7b3d48260c4e8a1f' },
  tag: 'Wallet',
  auth: 'person',
  refusals: [404, 409, 423],
  body: z.object({ account_id: WalletAccountId }),
  response: WalletLinks,
  status: 201,
})

export const removeWalletLink = defineRoute({
  operation: 'walletLinkRemove',
  method: 'DELETE',
  path: '/local/wallet/links/:address',
  summary: 'Unlink a wallet from your account at the service',
  description:
    'Ends its sign-ins and revokes the API keys that they created. Steward does not link it again automatically. An address that is not linked fails with 404 `auth/wallet-not-linked`.',
  tag: 'Wallet',
  auth: 'person',
  refusals: [404],
  params: z.object({ address: z.string().min(1).max(64) }),
  response: WalletLinks,
})

/** Account of the wallet that signs in to a hosted service. */
export const SignInWallet = z.object({
  sign_in: z
    .object({
      account_id: WalletAccountId,
      address: z.string(),
      label: z.string().nullable().describe('Null: it was removed from the wallet, and another one must be chosen.'),
    })
    .nullable()
    .describe('Null: none has signed in yet, or the service runs on this computer.'),
})
export type SignInWallet = z.infer<typeof SignInWallet>

export const getSignInWallet = defineRoute({
  operation: 'walletSignInGet',
  method: 'GET',
  path: '/local/wallet/sign-in',
  summary: 'Get the account of the wallet that signs in to the hosted service',
  description:
    'Stays the same until the user chooses another account, also when the default account changes. A service on this computer requires no wallet.',
  tag: 'Wallet',
  auth: 'person',
  response: SignInWallet,
})

export const chooseSignInWallet = defineRoute({
  operation: 'walletSignInChoose',
  method: 'PUT',
  path: '/local/wallet/sign-in',
  summary: 'Choose the account of the wallet that signs in to the hosted service',
  description:
    'Ends the sign-in of the other account and signs in again in the background. Choosing the account that is signed in has no effect. Fails with 400 `request/invalid` for a service on this computer.',
  example: { account_id: 'wal_5f0c1a9e7b3d48260c4e8a1f' },
  tag: 'Wallet',
  auth: 'person',
  refusals: [404],
  body: z.object({ account_id: WalletAccountId }),
  response: SignInWallet,
})
