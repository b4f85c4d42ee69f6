import { html } from '../html.ts'
import { createSecretBuffer } from '../secretBuffer.ts'
import { actions, cancelButton, passphraseField } from '../sheetParts.ts'
import type { SheetFlow, SheetNext, SheetStep, SheetTools } from '../sheetStep.ts'
import {
  confirmWeakPassphrase,
  newPassphraseFields,
  readEnteredPassphrase,
  readNewPassphrase,
} from './newPassphrase.ts'

export function changePassphraseSheet(tools: SheetTools): SheetFlow {
  const { vault } = tools
  const from = createSecretBuffer()
  const to = createSecretBuffer()
  const change = async (): Promise<SheetNext> => {
    await vault.changePassphrase({ from: from.read(), to: to.read() })
    return 'done'
  }
  const ask: SheetStep = {
    show: (context) => ({
      title: 'Change passphrase',
      body: html`${passphraseField(context)}${newPassphraseFields(context)}${actions({ label: 'Change passphrase' }, cancelButton)}`,
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
