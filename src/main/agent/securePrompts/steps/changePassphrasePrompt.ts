import { cancelButton, renderActionButtons, renderPassphraseField } from '../fields.ts'
import { html } from '../html.ts'
import { createSecretBuffer } from '../secretBuffer.ts'
import type { SecurePromptContext, SecurePromptFlow, SecurePromptNext, SecurePromptStep } from '../securePromptStep.ts'
import {
  confirmWeakPassphrase,
  readEnteredPassphrase,
  readNewPassphrase,
  renderNewPassphraseFields,
} from './newPassphrase.ts'

export function changePassphrasePrompt(tools: SecurePromptContext): SecurePromptFlow {
  const { vault } = tools
  const from = createSecretBuffer()
  const to = createSecretBuffer()
  const change = async (): Promise<SecurePromptNext> => {
    await vault.changePassphrase({ from: from.read(), to: to.read() })
    return 'done'
  }
  const ask: SecurePromptStep = {
    show: (context) => ({
      title: 'Change passphrase',
      body: html`${renderPassphraseField(context)}${renderNewPassphraseFields(context)}${renderActionButtons({ label: 'Change passphrase' }, cancelButton)}`,
    }),
    async take(form) {
      const present = readEnteredPassphrase(form)
      const chosen = readNewPassphrase(form, tools)
      await vault.checkPassphrase(present)
      from.hold(present)
      to.hold(chosen)
      return confirmWeakPassphrase({ passphrase: chosen, before: ask, after: change })
    },
  }
  return {
    first: ask,
    forget() {
      from.forget()
      to.forget()
    },
  }
}
