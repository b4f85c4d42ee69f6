import { AppError } from '#shared/appError.ts'
import type { WalletAccountId } from '#shared/contract/wallet.ts'
import {
  addWalletLink,
  chooseSignInWallet,
  getSignInWallet,
  listWalletLinks,
  removeWalletLink,
  type SignInWallet,
  type WalletLinks,
} from '#shared/contract/walletLinks.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { SigningAccount, WalletKeys } from '../wallet/walletKeys.ts'
import type { HostedSignIn } from './hostedSession.ts'
import type { LinkedWallets } from './walletLinker.ts'

type Options = {
  linked: LinkedWallets
  /** Sign-in at a hosted service. Undefined for the service on this computer. */
  signIn: HostedSignIn | undefined
  wallet: Pick<WalletKeys, 'accounts'>
}

/** Creates the endpoints for wallets that sign in at the service, and for the wallet of Steward's own sign-in. */
export function createWalletLinkRoutes({ linked, signIn, wallet }: Options): LocalEndpoint[] {
  const list = async (signal: AbortSignal): Promise<WalletLinks> => ({ links: await linked.list(signal) })
  const signInView = (): SignInWallet => {
    const chosen = signIn?.wallet()
    if (!chosen) return { sign_in: null }
    const { accountId: account_id, address } = chosen
    const label = wallet.accounts().find(({ id }) => id === account_id)?.label ?? null
    return { sign_in: { account_id, address, label } }
  }
  const requireAccount = (id: WalletAccountId): SigningAccount => {
    const account = wallet.accounts().find((it) => it.id === id)
    if (account) return account
    throw new AppError('wallet/account-not-found', `There is no account ${id}.`)
  }
  return [
    createLocalEndpoint(listWalletLinks, (_, { signal }) => list(signal)),
    createLocalEndpoint(addWalletLink, async ({ body }, { signal }) => {
      await linked.link(requireAccount(body.account_id).id, signal)
      return list(signal)
    }),
    createLocalEndpoint(removeWalletLink, async ({ params }, { signal }) => {
      await linked.unlink(params.address, signal)
      return list(signal)
    }),
    createLocalEndpoint(getSignInWallet, signInView),
    createLocalEndpoint(chooseSignInWallet, async ({ body: { account_id } }) => {
      if (!signIn) {
        throw new AppError('request/invalid', 'Steward signs in to the service on this computer without a wallet.')
      }
      await signIn.choose(requireAccount(account_id))
      return signInView()
    }),
  ]
}
