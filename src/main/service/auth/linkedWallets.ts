import { AppError } from '#shared/appError.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import type { AccountRepository, ApiKeyRecord } from '../accounts/accountRepository.ts'
import type { ApiKeys } from '../accounts/apiKeys.ts'
import type { Caller } from '../base/endpoint.ts'
import type { ServicePrincipals } from '../base/principals.ts'
import type { AccountRequests } from './accountRequests.ts'
import type { RefreshTokenRepository } from './refreshTokenRepository.ts'
import type { SignedMessage, SignInChecks } from './signInChecks.ts'
import type { RecordAccountActivity } from './signIns.ts'
import { toWalletKey, type WalletRecord, type WalletRepository } from './walletRepository.ts'

export type LinkedWallets = {
  /**
   * Links a wallet after verifying its signature.
   * @param assertAllowed throws if the caller's authorization has ended; called after the slow verification of the
   * signature
   * @throws AppError as a sign-in does, and `auth/wallet-linked`
   */
  link(caller: Caller, signIn: SignedMessage, assertAllowed: () => void): Promise<WalletRecord>
  /**
   * Unlinks a wallet, ends its sign-ins and revokes the API keys that they created.
   * @throws AppError `auth/wallet-not-linked`, or `auth/forbidden` for the only wallet of an account other than the
   * owner's
   */
  unlink(caller: Caller, address: string): Promise<UnlinkResult>
}

export type UnlinkResult = {
  wallet: WalletRecord
  revokedKeys: readonly ApiKeyRecord[]
  /** Wallets that sign-ins of the unlinked wallet linked. They stay linked. */
  linkedWallets: readonly WalletRecord[]
}

export function createLinkedWallets(options: {
  checks: SignInChecks
  wallets: WalletRepository
  accounts: Pick<AccountRepository, 'atomically'>
  sessions: Pick<RefreshTokenRepository, 'revokeWallet'>
  requests: Pick<AccountRequests, 'withdraw'>
  note: RecordAccountActivity
  keys: Pick<ApiKeys, 'revokeIssuedBy'>
  principals: Pick<ServicePrincipals, 'endAbsent'>
  now: () => number
}): LinkedWallets {
  const { checks, wallets, accounts, sessions, requests, note, keys, principals, now } = options
  return {
    async link({ accountId, wallet: signedInWallet }, signIn, assertAllowed) {
      const wallet = await checks.verify(signIn)
      return accounts.atomically(() => {
        assertAllowed()
        const existing = wallets.find(wallet)
        if (existing?.accountId === accountId) return existing
        if (existing) throw new AppError('auth/wallet-linked', `${wallet.address} belongs to another account.`)
        const linked = { ...wallet, accountId, linkedAtMs: now(), linkedBy: signedInWallet?.address ?? null }
        wallets.add(linked)
        requests.withdraw(wallet)
        note(accountId, {
          type: 'wallet.linked',
          description: `Linked the wallet ${shortenAddress(wallet.address)}.`,
        })
        return linked
      })
    },
    async unlink({ accountId, owner }, address) {
      const unlinked = accounts.atomically(() => {
        const linked = wallets.list(accountId)
        const wallet = linked.find(
          (walletRecord) => walletRecord.address === address || isSameEvm(walletRecord, address),
        )
        if (!wallet) throw new AppError('auth/wallet-not-linked', `No wallet ${address} is linked to this account.`)
        if (!owner && linked.length === 1) {
          throw new AppError(
            'auth/forbidden',
            'This wallet is the only way to sign in to its account. Link another wallet first.',
          )
        }
        const revokedKeys = keys.revokeIssuedBy(toWalletKey(wallet))
        wallets.remove(wallet)
        sessions.revokeWallet(wallet, now())
        const label = shortenAddress(wallet.address)
        note(accountId, { type: 'wallet.unlinked', description: `Unlinked the wallet ${label}.` })
        for (const { name, prefix } of revokedKeys) {
          note(accountId, {
            type: 'key.revoked',
            description: `Revoked the API key “${name}” (${prefix}…), which the wallet ${label} created.`,
          })
        }
        const linkedWallets = linked.filter(({ linkedBy }) => linkedBy === wallet.address)
        return { wallet, revokedKeys, linkedWallets }
      })
      await principals.endAbsent()
      return unlinked
    },
  }
}

function isSameEvm(wallet: WalletRecord, address: string): boolean {
  return wallet.type === 'evm' && wallet.address.toLowerCase() === address.toLowerCase()
}
