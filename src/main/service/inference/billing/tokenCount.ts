import { setImmediate } from 'node:timers/promises'

/** Tokenization time grows with the square of a word's length, so long runs in hostile texts are counted in parts. */
const maxRun = 64
const longRuns = new RegExp(`(\\S{${maxRun}}(?=\\S)|\\s{${maxRun}}(?=\\s))`)
/** Characters between yields to other work, which bounds each block to a few milliseconds. */
const yieldEveryCharacters = 8_192

/**
 * Counts tokens of a text in o200k. A split text may count one more token per part.
 * @param max count at which counting stops
 */
export async function countTokens(text: string, max = Number.POSITIVE_INFINITY): Promise<number> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base')
  let sum = 0
  for (let from = 0; from < text.length && sum < max; ) {
    if (from > 0) await setImmediate()
    const to = findPartEnd(text, from)
    for (const part of text.slice(from, to).split(longRuns)) sum += countTokens(part)
    from = to
  }
  return Math.min(sum, max)
}

/** Returns a position before a word if possible, so that no token is split. */
function findPartEnd(text: string, from: number): number {
  const end = from + yieldEveryCharacters
  if (end >= text.length) return text.length
  const blank = text.slice(from, end).lastIndexOf(' ')
  return blank > yieldEveryCharacters / 2 ? from + blank : end
}
