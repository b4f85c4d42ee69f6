import { AppError } from '#shared/appError.ts'
import type { WalletRecovery } from './recoverWallet.ts'
import type { WalletDoor } from './walletLock.ts'
import type { WalletNotes } from './walletNotes.ts'
import { requireKeyring, type WalletRepository } from './walletRepository.ts'
import type { WalletSecrets } from './walletSecrets.ts'
import type { WalletSettings } from './walletSettings.ts'
import type { KeyringRemoval, WalletVault } from './walletVault.ts'

type Options = {
  repository: WalletRepository
  secrets: Pick<WalletSecrets, 'end'>
  settings: Pick<WalletSettings, 'removeKeyring'>
  door: Pick<WalletDoor, 'withPassphrase' | 'drop' | 'shut'>
  recovery: Pick<WalletRecovery, 'finishRemovals'>
  notes: Pick<WalletNotes, 'recordRemoved' | 'publishChanged'>
  removal: KeyringRemoval
}

/** Creates the operation that removes keyrings. Removing the last one removes the wallet. */
export function createKeyringRemoval(options: Options): Pick<WalletVault, 'remove'> {
  const { repository, secrets, settings, door, recovery: walletRecovery, notes, removal } = options
  return {
    remove: (id, { typedLabel, passphrase, unlinksAll }) =>
      door.withPassphrase(passphrase, async (opened) => {
        const keyring = requireKeyring(repository, id)
        if (typedLabel.trim() !== keyring.label) {
          throw new AppError('wallet/confirmation', `Type the label “${keyring.label}” to confirm.`)
        }
        removal({ keyring, ...(unlinksAll !== undefined && { unlinksAll }) }, () => settings.removeKeyring(id))
        notes.recordRemoved(keyring)
        await walletRecovery.finishRemovals(opened)
        door.drop(id)
        if (repository.keyrings().length === 0) {
          door.shut('person')
          await secrets.end(opened.store)
        }
        notes.publishChanged()
      }),
  }
}
