import { randomInt } from 'node:crypto'
import { html } from '../html.ts'
import { actions, cancelButton, otherButton, secretField, warning } from '../sheetParts.ts'
import { type SheetNext, type SheetStep, WrongField } from '../sheetStep.ts'

type WordsStep = {
  title: string
  phrase: () => string
  /** The button that goes on, and others. */
  goOn: string
  next: () => Promise<SheetNext> | SheetNext
  /** Ends without going on. */
  leave?: string
}

/** The words in their order, to be written down. */
export function wordsStep({ title, phrase, goOn, next, leave }: WordsStep): SheetStep {
  return {
    show() {
      const words = wordsOf(phrase()).map((word, place) => html`<li><span>${place + 1}</span>${word}</li>`)
      return {
        title,
        body: html`${warning(html`Write these words on paper, in this order. Whoever has them has everything in this wallet,
and without them nobody can bring it back.`)}
<ol class="words" data-secret translate="no">${words}</ol>
${actions({ label: goOn }, leave === undefined ? cancelButton : otherButton(leave, 'leave'))}`,
      }
    },
    take: (form) => (form('do') === 'leave' ? 'done' : next()),
  }
}

type CheckStep = { phrase: () => string; back: SheetStep; next: () => Promise<SheetNext> | SheetNext }
const asked = 3

/** Asks for words at random places. */
export function checkStep({ phrase, back, next }: CheckStep): SheetStep {
  const places = randomPlaces(wordsOf(phrase()).length)
  return {
    show: (shown) => ({
      title: 'Check your copy',
      body: html`<p class="lead">Enter these words from your paper.</p>
<div class="places">${places.map((place) => secretField({ name: `word_${place + 1}`, label: `Word ${place + 1}` }, shown))}</div>
${actions({ label: 'Check' }, otherButton('Show words again', 'back'), cancelButton)}`,
    }),
    take(form) {
      if (form('do') === 'back') return back
      const words = wordsOf(phrase())
      const typed = (place: number) =>
        form(`word_${place + 1}`)
          .trim()
          .toLowerCase()
      const wrong = places.find((place) => typed(place) !== words[place])
      if (wrong === undefined) return next()
      const sentence =
        typed(wrong) === ''
          ? `Type word ${wrong + 1} from your paper.`
          : `That is not word ${wrong + 1}. Check your paper.`
      throw new WrongField(`word_${wrong + 1}`, sentence)
    },
  }
}

function randomPlaces(count: number): number[] {
  const places = new Set<number>()
  while (places.size < asked) places.add(randomInt(count))
  return [...places].sort((one, other) => one - other)
}

function wordsOf(phrase: string): string[] {
  return phrase.split(' ')
}
