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
  linked_by: z
    .string()
    .nullable()
    .default(null)
    .describe('Address of the wallet whose sign-in created the link, if any.'),
  by_steward: z
    .boolean()
    .describe(
      'Whether Steward linked the wallet automatically. Steward unlinks it when it is removed from the wallet.',
    ),
  account_id: WalletAccountId.nullable().describe(
    'Id of the account in the wallet. Null if the wallet of this computer does not contain it.',
  ),
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
  summary: 'List linked wallets and accounts that can be linked',
  description:
    'Returns the wallets that are linked to your account at the service, followed by unlinked default accounts (EVM and Solana) of this wallet. Only the window of Steward can use this route.',
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
    'Requests the signature of a sign-in message. Fails with 423 `wallet/locked`, 409 `auth/wallet-linked` if another account uses the wallet, or 403 `intent/denied` if the request is denied or not approved within 4.5 minutes.',
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
    'Ends the sign-ins of the wallet and revokes the API keys that they created. Steward does not link the wallet again automatically. Fails with 404 `auth/wallet-not-linked` if the address is not linked.',
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
      label: z
        .string()
        .nullable()
        .describe(
          'Label of the account. Null if the account was removed from the wallet and the user must choose another.',
        ),
    })
    .nullable()
    .describe('Account that signs in. Null if no account has signed in yet or the service runs on this computer.'),
})
export type SignInWallet = z.infer<typeof SignInWallet>

export const getSignInWallet = defineRoute({
  operation: 'walletSignInGet',
  method: 'GET',
  path: '/local/wallet/sign-in',
  summary: 'Get the wallet account that signs in to the hosted service',
  description:
    'Remains the same until the user chooses another account, even if the default account changes. A service on this computer requires no wallet.',
  tag: 'Wallet',
  auth: 'person',
  response: SignInWallet,
})

export const chooseSignInWallet = defineRoute({
  operation: 'walletSignInChoose',
  method: 'PUT',
  path: '/local/wallet/sign-in',
  summary: 'Choose the wallet account that signs in to the hosted service',
  description:
    'Ends the sign-in of the previous account and signs in again in the background. Choosing the account that is already signed in has no effect. Fails with 400 `request/invalid` if the service runs on this computer.',
  example: { account_id: 'wal_5f0c1a9e7b3d48260c4e8a1f' },
  tag: 'Wallet',
  auth: 'person',
  refusals: [404],
  body: z.object({ account_id: WalletAccountId }),
  response: SignInWallet,
})
