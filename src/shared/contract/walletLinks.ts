import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'
import { ChainType, WalletAccountId } from './wallet.ts'

/** A wallet that signs in to the account at the service, or an account of this wallet that could. */
export const WalletLink = z.object({
  address: z.string(),
  chain_type: ChainType,
  linked: z.boolean(),
  linked_at: IsoTime.nullable(),
  by_steward: z.boolean().describe('Steward linked it by itself, and unlinks it when it is removed from the wallet.'),
  account_id: WalletAccountId.nullable().describe('Null: it is not in the wallet of this computer.'),
  label: z.string().nullable(),
})
export type WalletLink = z.infer<typeof WalletLink>

/** Wallets linked to the account at the service, and accounts of this wallet that could be. */
export const WalletLinks = z.object({ links: z.array(WalletLink) })
export type WalletLinks = z.infer<typeof WalletLinks>

export const listWalletLinks = defineRoute({
  operation: 'walletLinkList',
  method: 'GET',
  path: '/local/wallet/links',
  summary: 'Wallets that sign in to your account at the service, and accounts of this wallet that do not',
  tag: 'Wallet',
  auth: 'person',
  response: WalletLinks,
})

export const addWalletLink = defineRoute({
  operation: 'walletLinkAdd',
  method: 'POST',
  path: '/local/wallet/links',
  summary: 'Link an account of this wallet to your account at the service; the wallet must be unlocked',
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
  summary: 'Unlink a wallet from your account at the service; Steward does not link it again by itself',
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
  summary: 'The account of the wallet that signs in to the hosted service',
  tag: 'Wallet',
  auth: 'person',
  response: SignInWallet,
})

export const chooseSignInWallet = defineRoute({
  operation: 'walletSignInChoose',
  method: 'PUT',
  path: '/local/wallet/sign-in',
  summary: 'Choose the account of the wallet that signs in to the hosted service',
  tag: 'Wallet',
  auth: 'person',
  refusals: [404, 409],
  body: z.object({ account_id: WalletAccountId }),
  response: SignInWallet,
})
