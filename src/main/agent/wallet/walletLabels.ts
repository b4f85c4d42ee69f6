import { AppError } from '#shared/appError.ts'
import { deriveNextAccount, insertAccount } from './walletAccounts.ts'
import type { WalletActivity } from './walletActivity.ts'
import type { WalletLock } from './walletLock.ts'
import { requireAccount, requireKeyring, type WalletRepository } from './walletRepository.ts'
import type { WalletSettings } from './walletSettings.ts'
import type { WalletVault } from './walletVault.ts'

type Options = {
  repository: WalletRepository
  settings: Pick<WalletSettings, 'setDefault' | 'setAutoLockMinutes'>
  walletLock: Pick<WalletLock, 'runExclusive' | 'secret' | 'checkUnused'>
  activity: Pick<WalletActivity, 'publishChanged' | 'accountAdded'>
  now: () => number
}
type Labels = Pick<
  WalletVault,
  'markWrittenDown' | 'addAccount' | 'renameAccount' | 'renameKeyring' | 'setDefault' | 'setAutoLock'
>

/** Creates the operations that change labels and add accounts. They require no secret from the user. */
export function createWalletLabels({ repository, settings, walletLock, activity, now }: Options): Labels {
  return {
    markWrittenDown(id) {
      if (!repository.markWrittenDown(id)) requireKeyring(repository, id)
      activity.publishChanged()
    },
    addAccount: ({ keyringId, chainType, label }) =>
      walletLock.runExclusive(async () => {
        const keyring = requireKeyring(repository, keyringId)
        if (keyring.kind !== 'phrase') {
          throw new AppError('request/invalid', `“${keyring.label}” is one private key with one account.`)
        }
        const secret = walletLock.secret(keyringId)
        try {
          const account = await deriveNextAccount(secret, chainType, { keyringId, accounts: repository.accounts() })
          insertAccount(repository, { keyringId, derived: account, label, atMs: now() })
          activity.accountAdded(keyring, account.address)
        } finally {
          secret.bytes.fill(0)
        }
        activity.publishChanged()
      }),
    renameAccount(id, label) {
      if (!repository.renameAccount(id, label)) requireAccount(repository, id)
      activity.publishChanged()
    },
    renameKeyring(id, label) {
      if (!repository.renameKeyring(id, label)) requireKeyring(repository, id)
      activity.publishChanged()
    },
    setDefault(id) {
      settings.setDefault(requireAccount(repository, id).chain_type, id)
      activity.publishChanged()
    },
    setAutoLock(minutes) {
      settings.setAutoLockMinutes(minutes)
      walletLock.checkUnused()
      activity.publishChanged()
    },
  }
}
