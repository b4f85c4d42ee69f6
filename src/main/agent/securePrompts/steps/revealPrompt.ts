import type { Keyring } from '#shared/contract/wallet.ts'
import type { WalletVault } from '../../wallet/walletVault.ts'
import { cancelButton, renderActionButtons, renderPassphraseField, renderWarning } from '../fields.ts'
import { html } from '../html.ts'
import { createSecretBuffer } from '../secretBuffer.ts'
import type { SecurePromptFlow, SecurePromptStep } from '../securePromptStep.ts'
import { readEnteredPassphrase } from './newPassphrase.ts'
import { createPhraseCheckStep, createPhraseStep } from './phraseSteps.ts'

/** Prompt that displays a phrase again, and lets the user prove that it is written down. */
export function createRevealPrompt(
  vault: WalletVault,
  { id, label, written_down: isWritten }: Keyring,
): SecurePromptFlow {
  const phrase = createSecretBuffer()
  const words: SecurePromptStep = createPhraseStep({
    title: `Recovery phrase “${label}”`,
    phrase: phrase.read,
    ...(isWritten
      ? { nextLabel: 'Done', next: () => 'done' as const }
      : {
          nextLabel: 'I wrote them down',
          cancelLabel: 'Not now',
          next: () =>
            createPhraseCheckStep({
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
      show: (context) => ({
        title: `Show recovery phrase “${label}”`,
        body: html`${renderWarning(html`Make sure nobody is watching and your screen is not shared.`)}
${renderPassphraseField(context)}${renderActionButtons({ label: 'Show words' }, cancelButton)}`,
      }),
      async take(form) {
        phrase.hold(await vault.revealPhrase(id, readEnteredPassphrase(form)))
        return words
      },
    },
    forget: phrase.forget,
  }
}
