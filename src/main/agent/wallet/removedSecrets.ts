import { AppError } from '../../../shared/appError.ts'
import { knownKeyring } from './walletRepository.ts'
import type { Opened } from './walletSecrets.ts'
import type { WalletTools } from './walletTools.ts'
import type { WalletVault } from './walletVault.ts'

/** Takes keyrings out of the wallet; with the last one everything goes. */
export function removedSecrets(tools: WalletTools): Pick<WalletVault, 'remove'> {
  const { repository, secrets, settings, door, changed, tell } = tools
  return {
    remove: (id, { typedLabel, passphrase }) =>
      door.withPassphrase(passphrase, async (opened) => {
        const { label } = knownKeyring(repository, id)
        if (typedLabel.trim() !== label) {
          throw new AppError('wallet/confirmation', `This is not the label “${label}”.`)
        }
        settings.removeKeyring(id)
        tell('wallet.removed', `“${label}” was removed from the wallet.`, id)
        await finishRemovals(opened, tools)
        door.drop(id)
        if (repository.keyrings().length === 0) {
          door.shut('person')
          await secrets.end(opened.store)
        }
        changed()
      }),
  }
}

/** A removal that was cut off goes on. */
export async function finishRemovals(
  opened: Opened,
  { secrets, settings }: Pick<WalletTools, 'secrets' | 'settings'>,
): Promise<void> {
  for (const id of settings.removing()) {
    await secrets.drop(opened, id)
    settings.removed(id)
  }
}
