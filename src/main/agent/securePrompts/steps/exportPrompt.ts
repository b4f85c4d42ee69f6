import type { WalletAccount } from '#shared/contract/wallet.ts'
import {
  cancelButton,
  renderActionButtons,
  renderNewSecretFields,
  renderPassphraseField,
  renderWarning,
} from '../fields.ts'
import { html } from '../html.ts'
import {
  FieldError,
  type SecurePromptContext,
  type SecurePromptFile,
  type SecurePromptFlow,
  type SecurePromptStep,
} from '../securePromptStep.ts'
import { readEnteredPassphrase } from './newPassphrase.ts'

/** Exports the key of an account as a Keystore V3 file, encrypted with a separate password. */
export function createExportPrompt(
  { vault, requireStrong }: SecurePromptContext,
  { id, label, address }: WalletAccount,
): SecurePromptFlow {
  const ready = (file: SecurePromptFile): SecurePromptStep => ({
    show: () => ({
      title: 'Your file is ready',
      body: html`<p>Anyone with this file and its password can spend everything in <code>${address}</code>.</p>
<p><code>${file.name}</code></p>
<footer><button class="primary" formaction="/prompt/file">Download</button><button name="do" value="next">Done</button></footer>`,
    }),
    take: () => 'done',
    file: () => file,
  })
  return {
    first: {
      show: (context) => ({
        title: `Export “${label}”`,
        body: html`${renderWarning(html`The file contains the private key of this account. Other wallets can open it with the password
you choose now.`)}
${renderPassphraseField(context)}
${renderNewSecretFields(
  {
    name: 'password',
    label: 'New file password',
    again: 'Confirm password',
    hint: 'At least 10 characters. Not your wallet passphrase.',
  },
  context,
)}
${renderActionButtons({ label: 'Create file' }, cancelButton)}`,
      }),
      async take(form) {
        const passphrase = readEnteredPassphrase(form)
        const password = form('password')
        requireStrong(password)
        if (password !== form('password_again')) {
          throw new FieldError('password_again', "The passwords don't match.")
        }
        if (password === passphrase) {
          throw new FieldError('password', "Don't use your wallet passphrase for the file.")
        }
        const { fileName, json } = await vault.exportKeystore(id, { passphrase, password })
        return ready({ name: fileName, text: json })
      },
    },
    forget() {}, // the file is encrypted with its password
  }
}
