import type { WalletVault } from '../../wallet/walletVault.ts'
import { html } from '../html.ts'
import { actions, cancelButton, passphraseField } from '../sheetParts.ts'
import type { SheetFlow, SheetNext } from '../sheetStep.ts'
import { givenPassphrase } from './newPassphrase.ts'

export function unlockSheet(vault: WalletVault): SheetFlow {
  return {
    first: {
      show: (shown) => ({
        title: 'Unlock the wallet',
        body: html`${passphraseField(shown)}${actions({ label: 'Unlock' }, cancelButton)}`,
      }),
      async take(form): Promise<SheetNext> {
        await vault.unlock(givenPassphrase(form))
        return 'done'
      },
    },
    forget() {},
  }
}
