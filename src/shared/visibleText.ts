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
