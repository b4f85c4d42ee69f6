import type { PendingPolicyChange } from '../../approvals/policyConfirmation.ts'
import type { WalletVault } from '../../wallet/walletVault.ts'
import { cancelButton, renderActionButtons, renderPassphraseField } from '../fields.ts'
import { html } from '../html.ts'
import type { SecurePromptFlow, SecurePromptNext } from '../securePromptStep.ts'
import { readEnteredPassphrase } from './newPassphrase.ts'

type PolicyConfirmation = { vault: WalletVault; change: PendingPolicyChange }

/** Prompt that confirms a looser policy or ends the stop, in a page that the main window cannot draw. */
export function createConfirmPolicyPrompt({
  vault,
  change: { title, sentence, lines, apply },
}: PolicyConfirmation): SecurePromptFlow {
  return {
    first: {
      show: (context) => ({
        title,
        body: html`<p class="sentence">${sentence}</p>
${lines.length > 0 && html`<dl>${lines.map(({ label, value }) => html`<dt>${label}</dt><dd>${value}</dd>`)}</dl>`}
${renderPassphraseField(context)}
${renderActionButtons({ label: 'Confirm' }, cancelButton)}`,
      }),
      async take(form): Promise<SecurePromptNext> {
        const passphrase = readEnteredPassphrase(form)
        if (vault.isUnlocked()) await vault.checkPassphrase(passphrase)
        else await vault.unlock(passphrase)
        apply()
        return 'done'
      },
    },
    forget() {},
  }
}
