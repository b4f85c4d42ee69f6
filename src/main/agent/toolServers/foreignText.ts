const [esc, bell] = ['\u001B', '\u0007']
const sequences = new RegExp(`${esc}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${bell}${esc}]*(?:${bell}|${esc}\\\\)?|[@-_])`, 'g')
/**
 * Control characters, characters that reorder or hide others, and invisible ones: selectors and tags can encode text.
 */
const hidden = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/**
 * Removes invisible characters from untrusted text, so that the user and the model read the same text. Text longer than
 * `maxLength` is cut and marked.
 */
export function sanitizeForeignText(text: string, maxLength: number): string {
  // Bounds further work.
  const cleaned = text
    .slice(0, 4 * maxLength)
    .replace(/\r\n?/g, '\n')
    .replace(sequences, '')
    .replace(hidden, '')
  const cut = cleaned.length > maxLength || text.length > 4 * maxLength
  return cut ? `${cleaned.slice(0, maxLength).toWellFormed()} [… cut]` : cleaned
}
