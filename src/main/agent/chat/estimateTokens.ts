/**
 * Estimates the number of tokens of a text without a provider's tokenizer. Additive: the estimate of a concatenation is
 * the sum of both estimates, so streamed text can be counted by its chunks.
 */
export function estimateTokens(text: string): number {
  let weight = 0
  for (let index = 0; index < text.length; index += 1) weight += estimateCharacter(text.charCodeAt(index))
  return weight
}

/** English prose has about four characters per token. Code, digits and other scripts have fewer. */
function estimateCharacter(code: number): number {
  if (code < 0x80) {
    if ((code >= 0x61 && code <= 0x7a) || code === 0x20) return 0.22
    if (code >= 0x30 && code <= 0x39) return 0.4
    if (code >= 0x41 && code <= 0x5a) return 0.35
    return 0.5
  }
  if (code < 0x3000) return 0.45
  return 0.8
}

/** Tokens of an image of any size, because providers scale images down before counting. */
export const imageTokens = { expected: 1_000, max: 4_096 } as const

/** Provider overhead per message, in tokens. */
export const frameTokens = { expected: 4, max: 64 } as const
