/**
 * Functions for text from outside: sellers, registrars, tool servers, programs and models. `sanitizeLine` and
 * `sanitizeBlock` remove hidden characters before text is stored or sent to a model. `revealHidden` and `escapeHidden`
 * show them, for text that must be displayed as it is.
 */

/**
 * Formats untrusted text as one line: truncated, without control characters and without characters that reorder or hide
 * others.
 */
export function sanitizeLine(text: string, max: number): string {
  const line = toOneLine(text.slice(0, 4 * max))
  return line.length > max ? `${toOneLine(line.slice(0, max - 1))}…` : line
}

/** Collapses whitespace, control characters and characters that reorder or hide others to single spaces. */
export function toOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
}

const [esc, bell] = ['\u001B', '\u0007']
const sequences = new RegExp(`${esc}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${bell}${esc}]*(?:${bell}|${esc}\\\\)?|[@-_])`, 'g')
/**
 * Control characters, characters that reorder or hide others, and invisible ones: selectors and tags can encode text.
 */
const removed = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/**
 * Removes invisible characters from untrusted text, so that the user and the model read the same text. Text longer than
 * `maxLength` is cut and marked.
 */
export function sanitizeBlock(text: string, maxLength: number): string {
  // Bounds further work.
  const cleaned = text
    .slice(0, 4 * maxLength)
    .replace(/\r\n?/g, '\n')
    .replace(sequences, '')
    .replace(removed, '')
  const cut = cleaned.length > maxLength || text.length > 4 * maxLength
  return cut ? `${cleaned.slice(0, maxLength).replace(/\p{Cs}/u, '\ufffd')} [… cut]` : cleaned
}

/** Bidirectional controls, joiners and other invisible characters, and control characters except tabs and line ends. */
const unseen =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it matches these characters
  /[\0-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u2064\u2066-\u206F\uFEFF\u{E0000}-\u{E007F}]/gu
const plain = /^[\t\n\r\x20-\x7E]*$/
/** The maximum number of combining marks per letter in any script. */
const maxMarks = 6
const stacked = new RegExp(`(\\p{M}{${maxMarks}})\\p{M}+`, 'gu')

/**
 * Escapes third-party code and commands for display. Replaces invisible characters, which could make the text look
 * different from what runs, with their code point, such as `⟨U+202E⟩`.
 * @see https://trojansource.codes
 */
export function revealHidden(text: string): string {
  if (plain.test(text)) return text
  return withFewMarks(text).replace(unseen, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
}

/** Flags made of tag characters, such as Scotland's, and runs of invisible characters that can encode a message. */
const hidden =
  /(\u{1F3F4}[\u{E0020}-\u{E007E}]{1,6}\u{E007F})|(?:[\u{E0000}-\u{E007F}]|[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]{2,}|[\u200B-\u200D\u2060-\u2064\uFEFF]{4,})+/gu

/**
 * Escapes third-party prose for display. Replaces invisible text, which a model reads but a user does not see, with its
 * length, such as `⟨17 hidden characters⟩`. Single joiners of letters and emoji are preserved.
 * @see https://www.unicode.org/faq/languagetagging.html
 */
export function escapeHidden(text: string): string {
  if (plain.test(text)) return text
  return text.replace(hidden, (match, flag: string | undefined) => {
    if (flag !== undefined) return flag
    const { length } = [...match]
    return `⟨${length} hidden ${length === 1 ? 'character' : 'characters'}⟩`
  })
}

/** Limits combining marks to six per letter. Thousands of them would cover their surroundings and be slow to draw. */
export function withFewMarks(text: string): string {
  return plain.test(text) ? text : text.replace(stacked, '$1')
}
