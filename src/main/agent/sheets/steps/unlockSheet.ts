import type { WalletVault } from '../../wallet/walletVault.ts'
import { html } from '../html.ts'
import { actions, cancelButton, passphraseField } from '../sheetParts.ts'
import type { SheetFlow, SheetNext } from '../sheetStep.ts'
import { readEnteredPassphrase } from './newPassphrase.ts'

export function unlockSheet(vault: WalletVault): SheetFlow {
  return {
    first: {
      show: (context) => ({
        title: 'Unlock the wallet',
        body: html`${passphraseField(context)}${actions({ label: 'Unlock' }, cancelButton)}`,
      }),
      async take(form): Promise<SheetNext> {
        await vault.unlock(readEnteredPassphrase(form))
        return 'done'
      },
    },
    forget() {},
  }
}
