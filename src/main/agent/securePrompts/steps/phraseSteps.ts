import { randomInt } from 'node:crypto'
import {
  cancelButton,
  renderActionButtons,
  renderSecondaryButton,
  renderSecretField,
  renderWarning,
} from '../fields.ts'
import { html } from '../html.ts'
import { FieldError, type SecurePromptNext, type SecurePromptStep } from '../securePromptStep.ts'

type PhraseStep = {
  title: string
  phrase: () => string
  /** Label of the button that continues. */
  nextLabel: string
  next: () => Promise<SecurePromptNext> | SecurePromptNext
  cancelLabel?: string
}

/** Creates the step that displays the numbered words of a phrase to write down. */
export function createPhraseStep({ title, phrase, nextLabel, next, cancelLabel }: PhraseStep): SecurePromptStep {
  return {
    show() {
      const words = splitPhrase(phrase()).map((word, index) => html`<li><span>${index + 1}</span>${word}</li>`)
      return {
        title,
        body: html`${renderWarning(html`Write these words on paper, in this order. Anyone who has them can spend everything in this wallet.
Without them, the wallet cannot be restored.`)}
<ol class="words" data-secret translate="no">${words}</ol>
${renderActionButtons({ label: nextLabel }, cancelLabel === undefined ? cancelButton : renderSecondaryButton(cancelLabel, 'leave'))}`,
      }
    },
    take: (form) => (form('do') === 'leave' ? 'done' : next()),
  }
}

type CheckStep = {
  phrase: () => string
  back: SecurePromptStep
  next: () => Promise<SecurePromptNext> | SecurePromptNext
}
const confirmedCount = 3

/** Creates the step that asks for words at random positions. */
export function createPhraseCheckStep({ phrase, back, next }: CheckStep): SecurePromptStep {
  const indexes = drawIndexes(splitPhrase(phrase()).length)
  return {
    show: (context) => ({
      title: 'Check your copy',
      body: html`<p class="lead">Enter these words from your paper.</p>
<div class="word-inputs">${indexes.map((index) => renderSecretField({ name: `word_${index + 1}`, label: `Word ${index + 1}` }, context))}</div>
${renderActionButtons({ label: 'Check' }, renderSecondaryButton('Show words again', 'back'), cancelButton)}`,
    }),
    take(form) {
      if (form('do') === 'back') return back
      const words = splitPhrase(phrase())
      const readWord = (index: number) =>
        form(`word_${index + 1}`)
          .trim()
          .toLowerCase()
      const wrong = indexes.find((index) => readWord(index) !== words[index])
      if (wrong === undefined) return next()
      const sentence =
        readWord(wrong) === ''
          ? `Type word ${wrong + 1} from your paper.`
          : `That is not word ${wrong + 1}. Check your paper.`
      throw new FieldError(`word_${wrong + 1}`, sentence)
    },
  }
}

function drawIndexes(count: number): number[] {
  const indexes = new Set<number>()
  while (indexes.size < confirmedCount) indexes.add(randomInt(count))
  return [...indexes].sort((a, b) => a - b)
}

function splitPhrase(phrase: string): string[] {
  return phrase.split(' ')
}
