import { setImmediate } from 'node:timers/promises'

/** A word costs the tokenizer the square of its length: the runs of a hostile text are counted in parts. */
const longestRun = 512
const longRuns = new RegExp(`(\\S{${longestRun}}(?=\\S)|\\s{${longestRun}}(?=\\s))`)
/** Others have their turn after so many characters. */
const charactersAtOnce = 65_536

/** Tokens of a text as o200k has them; each part of a text that is cut can be a token more. */
export async function tokenCount(text: string): Promise<number> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base')
  let sum = 0
  for (let from = 0; from < text.length; from += charactersAtOnce) {
    if (from > 0) await setImmediate()
    for (const part of text.slice(from, from + charactersAtOnce).split(longRuns)) sum += countTokens(part)
  }
  return sum
}
