import { AppError } from '#shared/appError.ts'
import type { WalletRecovery } from './recoverWallet.ts'
import type { WalletActivity } from './walletActivity.ts'
import type { WalletLock } from './walletLock.ts'
import { requireKeyring, type WalletRepository } from './walletRepository.ts'
import type { WalletSecrets } from './walletSecrets.ts'
import type { WalletSettings } from './walletSettings.ts'
import type { KeyringRemoval, WalletVault } from './walletVault.ts'

type Options = {
  repository: WalletRepository
  secrets: Pick<WalletSecrets, 'end'>
  settings: Pick<WalletSettings, 'removeKeyring'>
  walletLock: Pick<WalletLock, 'withPassphrase' | 'drop' | 'lockNow'>
  recovery: Pick<WalletRecovery, 'finishRemovals'>
  activity: Pick<WalletActivity, 'recordRemoved' | 'publishChanged'>
  removal: KeyringRemoval
}

/** Creates the operation that removes keyrings. Removing the last one removes the wallet. */
export function createKeyringRemoval(options: Options): Pick<WalletVault, 'remove'> {
  const { repository, secrets, settings, walletLock, recovery: walletRecovery, activity, removal } = options
  return {
    remove: (id, { typedLabel, passphrase, unlinksAll }) =>
      walletLock.withPassphrase(passphrase, async (opened) => {
        const keyring = requireKeyring(repository, id)
        if (typedLabel.trim() !== keyring.label) {
          throw new AppError('wallet/confirmation', `Type the label “${keyring.label}” to confirm.`)
        }
        removal({ keyring, ...(unlinksAll !== undefined && { unlinksAll }) }, () => settings.removeKeyring(id))
        activity.recordRemoved(keyring)
        await walletRecovery.finishRemovals(opened)
        walletLock.drop(id)
        if (repository.keyrings().length === 0) {
          walletLock.lockNow('person')
          await secrets.end(opened.store)
        }
        activity.publishChanged()
      }),
  }
}
