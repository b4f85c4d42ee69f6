/**
 * Estimates the number of tokens of a text without a provider's tables. Additive: the estimate of two texts joined is
 * the sum of both, so a growing answer is counted by its chunks.
 */
export function estimateTokens(text: string): number {
  let weight = 0
  for (let index = 0; index < text.length; index += 1) weight += estimateCharacter(text.charCodeAt(index))
  return weight
}

/** English prose has about four characters per token; code, digits and other scripts fewer. */
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

/** Tokens of an image of any size: providers scale it down before they count. */
export const imageTokens = { usual: 1_000, most: 4_096 } as const

/** Overhead of a provider per message. */
export const frameTokens = { usual: 4, most: 64 } as const
