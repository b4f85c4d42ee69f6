import type { Keyring } from '../../../../shared/contract/wallet.ts'
import type { WalletVault } from '../../wallet/walletVault.ts'
import { html } from '../html.ts'
import { actions, cancelButton, passphraseField, textField, warning } from '../sheetParts.ts'
import type { SheetFlow, SheetNext } from '../sheetStep.ts'
import { givenPassphrase } from './newPassphrase.ts'

/** Takes a phrase or a key out of the wallet, with all its accounts. */
export function removeSheet(vault: WalletVault, { id, label, kind, accounts, written_down }: Keyring): SheetFlow {
  const what = kind === 'phrase' ? 'phrase' : 'private key'
  const many = accounts.length === 1 ? 'Its account goes' : `Its ${accounts.length} accounts go`
  return {
    first: {
      show: (shown) => ({
        title: `Remove “${label}”`,
        body: html`${warning(
          html`${many} from this machine, and nothing here can bring ${
            accounts.length === 1 ? 'it' : 'them'
          } back but the ${what} itself.${!written_down && html` <strong>It was never shown to be written down.</strong>`}`,
        )}
<ul class="mono">${accounts.map(({ address }) => html`<li>${address}</li>`)}</ul>
${textField({ name: 'typed_label', label: `Type “${label}” to confirm`, needed: true }, shown)}
${passphraseField(shown)}
${actions({ label: `Remove the ${what}`, tone: 'danger' }, cancelButton)}`,
      }),
      async take(form): Promise<SheetNext> {
        await vault.remove(id, { typedLabel: form('typed_label').trim(), passphrase: givenPassphrase(form) })
        return 'done'
      },
    },
    forget() {},
  }
}
