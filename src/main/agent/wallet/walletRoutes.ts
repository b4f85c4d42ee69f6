import {
  addWalletAccount,
  changeWallet,
  getWallet,
  lockWallet,
  renameKeyring,
  renameWalletAccount,
} from '#shared/contract/wallet.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { WalletVault } from './walletVault.ts'

/** Creates the endpoints for actions without secrets in the request or the response. */
export function createWalletRoutes(wallet: WalletVault): LocalEndpoint[] {
  return [
    createLocalEndpoint(getWallet, () => wallet.status()),
    createLocalEndpoint(lockWallet, () => {
      wallet.lock()
      return wallet.status()
    }),
    createLocalEndpoint(changeWallet, ({ body }) => {
      if (body.default_account_id !== undefined) wallet.setDefault(body.default_account_id)
      if (body.auto_lock_minutes !== undefined) wallet.setAutoLock(body.auto_lock_minutes)
      return wallet.status()
    }),
    createLocalEndpoint(addWalletAccount, async ({ body: { keyring_id: keyringId, chain_type: chainType, label } }) => {
      await wallet.addAccount({ keyringId, chainType, ...(label !== undefined && { label }) })
      return wallet.status()
    }),
    createLocalEndpoint(renameWalletAccount, ({ params, body }) => {
      wallet.renameAccount(params.accountId, body.label)
      return wallet.status()
    }),
    createLocalEndpoint(renameKeyring, ({ params, body }) => {
      wallet.renameKeyring(params.keyringId, body.label)
      return wallet.status()
    }),
  ]
}
