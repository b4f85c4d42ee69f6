import { cancelButton, renderActionButtons, renderChoiceField, renderTextField } from '../fields.ts'
import { html } from '../html.ts'
import { createSecretBuffer } from '../secretBuffer.ts'
import type { SecurePromptContext, SecurePromptFlow, SecurePromptNext, SecurePromptStep } from '../securePromptStep.ts'
import { labelTexts, readLabel } from './keyringLabel.ts'
import { confirmWeakPassphrase, readPassphrase, renderPassphraseFields } from './newPassphrase.ts'
import { createPhraseCheckStep, createPhraseStep } from './phraseSteps.ts'

/**
 * Prompt for a new phrase. The phrase is added to the wallet only after the user has proved that it is written down.
 */
export function createWalletPrompt(tools: SecurePromptContext, first: boolean): SecurePromptFlow {
  const { vault } = tools
  const phrase = createSecretBuffer()
  const passphrase = createSecretBuffer()
  let label: string | undefined

  const add = async (): Promise<SecurePromptNext> => {
    await vault.addPhrase({
      phrase: phrase.read(),
      passphrase: passphrase.read(),
      isNew: true,
      writtenDown: true,
      ...(label !== undefined && { label }),
    })
    return 'done'
  }
  const words: SecurePromptStep = createPhraseStep({
    title: 'Write these words down',
    phrase: phrase.read,
    nextLabel: 'I wrote them down',
    next: () => createPhraseCheckStep({ phrase: phrase.read, back: words, next: add }),
  })
  const choose: SecurePromptStep = {
    show: (context) => ({
      title: first ? 'New recovery phrase' : 'Another recovery phrase',
      body: html`<p class="lead">All your keys come from one recovery phrase. It stays on this computer, encrypted with your passphrase.</p>
${renderChoiceField(
  'words',
  'Phrase length',
  [
    { value: '12', label: '12 words', detail: 'Recommended' },
    { value: '24', label: '24 words', detail: 'Extra long' },
  ],
  context,
)}
${renderTextField(labelTexts, context)}
${renderPassphraseFields(first, context)}
${renderActionButtons({ label: 'Continue' }, cancelButton)}`,
    }),
    async take(form) {
      label = readLabel(form)
      const entered = await readPassphrase(form, first, tools)
      const count = form('words') === '24' ? 24 : 12
      const make = async (): Promise<SecurePromptNext> => {
        passphrase.hold(entered)
        phrase.hold(await vault.makePhrase(count))
        return words
      }
      return first ? confirmWeakPassphrase({ passphrase: entered, before: choose, after: make }) : make()
    },
  }
  return {
    first: choose,
    forget() {
      phrase.forget()
      passphrase.forget()
    },
  }
}
