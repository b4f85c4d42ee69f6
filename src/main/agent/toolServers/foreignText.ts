const [esc, bell] = ['\u001B', '\u0007']
const sequences = new RegExp(`${esc}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${bell}${esc}]*(?:${bell}|${esc}\\\\)?|[@-_])`, 'g')
/** Controls, what turns or hides other characters, and what draws nothing at all: selectors and tags can spell a text. */
const hidden = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/**
 * A stranger's text without anything that is not seen: what the person reads is what the model reads. More than `most`
 * characters are cut, and it says so.
 */
export function sanitizeForeignText(text: string, maxLength: number): string {
  // Cuts before any further work.
  const cleaned = text
    .slice(0, 4 * maxLength)
    .replace(/\r\n?/g, '\n')
    .replace(sequences, '')
    .replace(hidden, '')
  const cut = cleaned.length > maxLength || text.length > 4 * maxLength
  return cut ? `${cleaned.slice(0, maxLength).toWellFormed()} [… cut]` : cleaned
}
