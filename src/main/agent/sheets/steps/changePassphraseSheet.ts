import { heldSecret } from '../heldSecret.ts'
import { html } from '../html.ts'
import { actions, cancelButton, passphraseField } from '../sheetParts.ts'
import type { SheetFlow, SheetNext, SheetStep, SheetTools } from '../sheetStep.ts'
import { consideredPassphrase, givenPassphrase, newPassphraseFields, newPassphraseOf } from './newPassphrase.ts'

export function changePassphraseSheet(tools: SheetTools): SheetFlow {
  const { vault } = tools
  const from = heldSecret()
  const to = heldSecret()
  const change = async (): Promise<SheetNext> => {
    await vault.changePassphrase({ from: from.read(), to: to.read() })
    return 'done'
  }
  const ask: SheetStep = {
    show: (shown) => ({
      title: 'Change passphrase',
      body: html`${passphraseField(shown)}${newPassphraseFields(shown)}${actions({ label: 'Change passphrase' }, cancelButton)}`,
    }),
    async take(form) {
      const present = givenPassphrase(form)
      const chosen = newPassphraseOf(form, tools)
      await vault.checkPassphrase(present)
      from.hold(present)
      to.hold(chosen)
      return consideredPassphrase({ passphrase: chosen, before: ask, after: change })
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
