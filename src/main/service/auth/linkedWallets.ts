import { AppError } from '#shared/appError.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import type { Transaction } from '#storage/store.ts'
import type { ApiKeyRecord } from '../accounts/accountRepository.ts'
import type { ApiKeys } from '../accounts/apiKeys.ts'
import type { RecordedWrite } from '../activity/recordedWrite.ts'
import type { Caller } from '../base/endpoint.ts'
import type { ServicePrincipals } from '../base/principals.ts'
import type { AccountRequests } from './accountRequests.ts'
import { refreshTokenRepository } from './refreshTokenRepository.ts'
import type { SignedMessage, SignInChecks } from './signInChecks.ts'
import { toWalletKey, type WalletRecord, walletRepository } from './walletRepository.ts'

export type LinkedWallets = {
  /**
   * Links a wallet after verifying its signature.
   * @param assertAllowed throws if the caller's authorization has ended. Runs in the transaction that links the wallet,
   * after the slow verification of the signature
   * @throws AppError as a sign-in does, and `auth/wallet-linked`
   */
  link(caller: Caller, signIn: SignedMessage, assertAllowed: (tx: Transaction) => Promise<void>): Promise<WalletRecord>
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
  /** Number of wallets that are still linked to the account. */
  remaining: number
}

export function createLinkedWallets(options: {
  checks: SignInChecks
  writeRecorded: RecordedWrite
  requests: Pick<AccountRequests, 'withdraw' | 'announce'>
  keys: Pick<ApiKeys, 'revokeIssuedBy' | 'forget'>
  principals: Pick<ServicePrincipals, 'endAbsent'>
  now: () => number
}): LinkedWallets {
  const { checks, writeRecorded, requests, keys, principals, now } = options

  const unlinkWallet = ({ accountId, owner }: Caller, address: string): Promise<UnlinkResult> =>
    writeRecorded(async (tx, record) => {
      const linked = await walletRepository.list(tx, accountId)
      const wallet = linked.find((walletRecord) => walletRecord.address === address || isSameEvm(walletRecord, address))
      if (!wallet) throw new AppError('auth/wallet-not-linked', `No wallet ${address} is linked to this account.`)
      if (!owner && linked.length === 1) {
        throw new AppError(
          'auth/forbidden',
          'This wallet is the only way to sign in to its account. Link another wallet first.',
        )
      }
      const revokedKeys = await keys.revokeIssuedBy(tx, toWalletKey(wallet))
      await walletRepository.remove(tx, wallet)
      await refreshTokenRepository.revokeWallet(tx, wallet, now())
      const label = shortenAddress(wallet.address)
      await record(accountId, { type: 'wallet.unlinked', description: `Unlinked the wallet ${label}.` })
      for (const { name, prefix } of revokedKeys) {
        await record(accountId, {
          type: 'key.revoked',
          description: `Revoked the API key “${name}” (${prefix}…), which the wallet ${label} created.`,
        })
      }
      const linkedWallets = linked.filter(({ linkedBy }) => linkedBy === wallet.address)
      return { wallet, revokedKeys, linkedWallets, remaining: linked.length - 1 }
    })

  return {
    async link({ accountId, wallet: signedInWallet }, signIn, assertAllowed) {
      const wallet = await checks.verify(signIn)
      const { linked, isWithdrawn } = await writeRecorded(async (tx, record) => {
        await assertAllowed(tx)
        const existing = await walletRepository.find(tx, wallet)
        if (existing?.accountId === accountId) return { linked: existing, isWithdrawn: false }
        if (existing) throw new AppError('auth/wallet-linked', `${wallet.address} belongs to another account.`)
        const linked = { ...wallet, accountId, linkedAtMs: now(), linkedBy: signedInWallet?.address ?? null }
        await walletRepository.add(tx, linked)
        const isWithdrawn = await requests.withdraw(tx, wallet)
        await record(accountId, {
          type: 'wallet.linked',
          description: `Linked the wallet ${shortenAddress(wallet.address)}.`,
        })
        return { linked, isWithdrawn }
      })
      if (isWithdrawn) requests.announce()
      return linked
    },
    async unlink(caller, address) {
      try {
        return await unlinkWallet(caller, address)
      } finally {
        keys.forget() // also after an unknown outcome
        await principals.endAbsent()
      }
    },
  }
}

function isSameEvm(wallet: WalletRecord, address: string): boolean {
  return wallet.type === 'evm' && wallet.address.toLowerCase() === address.toLowerCase()
}
