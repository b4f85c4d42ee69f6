/**
 * How many tokens a text has, near enough for an estimate, without the tables of any provider. It adds up: two texts
 * together have as many as both apart, so an answer that grows is counted by its pieces.
 */
export function estimateTokens(text: string): number {
  let weight = 0
  for (let index = 0; index < text.length; index += 1) weight += estimateCharacter(text.charCodeAt(index))
  return weight
}

/** Of English prose a token has four characters; of code, figures and other scripts fewer. */
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

/** Of an image, whatever its size: providers scale it down before they count. */
export const imageTokens = { usual: 1_000, most: 4_096 } as const

/** What a provider puts around each message. */
export const frameTokens = { usual: 4, most: 64 } as const
