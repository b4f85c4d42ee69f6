import type { Keyring } from '#shared/contract/wallet.ts'
import type { WalletVault } from '../../wallet/walletVault.ts'
import { heldSecret } from '../heldSecret.ts'
import { html } from '../html.ts'
import { actions, cancelButton, passphraseField, warning } from '../sheetParts.ts'
import type { SheetFlow, SheetStep } from '../sheetStep.ts'
import { givenPassphrase } from './newPassphrase.ts'
import { checkStep, wordsStep } from './phraseSteps.ts'

/** Shows a phrase again, and lets the person prove that it is written down. */
export function revealSheet(vault: WalletVault, { id, label, written_down: isWritten }: Keyring): SheetFlow {
  const phrase = heldSecret()
  const words: SheetStep = wordsStep({
    title: `Recovery phrase “${label}”`,
    phrase: phrase.read,
    ...(isWritten
      ? { goOn: 'Done', next: () => 'done' as const }
      : {
          goOn: 'I wrote them down',
          leave: 'Not now',
          next: () =>
            checkStep({
              phrase: phrase.read,
              back: words,
              next: () => {
                vault.markWrittenDown(id)
                return 'done'
              },
            }),
        }),
  })
  return {
    first: {
      show: (shown) => ({
        title: `Show recovery phrase “${label}”`,
        body: html`${warning(html`Make sure nobody is watching and your screen is not shared.`)}
${passphraseField(shown)}${actions({ label: 'Show words' }, cancelButton)}`,
      }),
      async take(form) {
        phrase.hold(await vault.revealPhrase(id, givenPassphrase(form)))
        return words
      },
    },
    forget: phrase.forget,
  }
}
