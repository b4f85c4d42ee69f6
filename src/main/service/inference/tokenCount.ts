import { setImmediate } from 'node:timers/promises'

/** A word costs the tokenizer the square of its length: the runs of a hostile text are counted in parts. */
const maxRun = 64
const longRuns = new RegExp(`(\\S{${maxRun}}(?=\\S)|\\s{${maxRun}}(?=\\s))`)
/** Others have their turn after so many characters: at worst some milliseconds. */
const charactersAtOnce = 8_192

/**
 * Counts tokens of a text in o200k. Text that is split may count one token more per part.
 *
 * @param max the count at which counting stops
 */
export async function countTokens(text: string, max = Number.POSITIVE_INFINITY): Promise<number> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base')
  let sum = 0
  for (let from = 0; from < text.length && sum < max; ) {
    if (from > 0) await setImmediate()
    const to = endOfPart(text, from)
    for (const part of text.slice(from, to).split(longRuns)) sum += countTokens(part)
    from = to
  }
  return Math.min(sum, max)
}

/** Before a word, where one begins there: then no token is cut. */
function endOfPart(text: string, from: number): number {
  const end = from + charactersAtOnce
  if (end >= text.length) return text.length
  const blank = text.slice(from, end).lastIndexOf(' ')
  return blank > charactersAtOnce / 2 ? from + blank : end
}
