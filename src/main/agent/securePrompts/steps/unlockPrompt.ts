import type { WalletVault } from '../../wallet/walletVault.ts'
import { cancelButton, renderActionButtons, renderPassphraseField } from '../fields.ts'
import { html } from '../html.ts'
import type { SecurePromptFlow, SecurePromptNext } from '../securePromptStep.ts'
import { readEnteredPassphrase } from './newPassphrase.ts'

export function createUnlockPrompt(vault: WalletVault): SecurePromptFlow {
  return {
    first: {
      show: (context) => ({
        title: 'Unlock the wallet',
        body: html`${renderPassphraseField(context)}${renderActionButtons({ label: 'Unlock' }, cancelButton)}`,
      }),
      async take(form): Promise<SecurePromptNext> {
        await vault.unlock(readEnteredPassphrase(form))
        return 'done'
      },
    },
    forget() {},
  }
}
