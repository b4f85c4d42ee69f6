/** Turn the direction of what follows, join or hide, and take no place themselves; and controls but tabs and line ends. */
const unseen =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
  /[\0-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u2064\u2066-\u206F\uFEFF\u{E0000}-\u{E007F}]/gu
const plain = /^[\t\n\r\x20-\x7E]*$/
/** Letters of no script carry more. */
const maxMarks = 6
const stacked = new RegExp(`(\\p{M}{${maxMarks}})\\p{M}+`, 'gu')

/**
 * As code and commands of strangers are shown: characters that nobody sees, and that could make a text read otherwise
 * than it runs, stand there by their number: `⟨U+202E⟩`.
 *
 * @see https://trojansource.codes
 */
export function revealHidden(text: string): string {
  if (plain.test(text)) return text
  return withFewMarks(text).replace(unseen, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
}

/** A flag of letters such as Scotland's, or characters that are seen nowhere and can hold a text, several at once. */
const hidden =
  /(\u{1F3F4}[\u{E0020}-\u{E007E}]{1,6}\u{E007F})|(?:[\u{E0000}-\u{E007F}]|[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]{2,}|[\u200B-\u200D\u2060-\u2064\uFEFF]{4,})+/gu

/**
 * As prose of strangers is shown: a text within it that no person can read, but a model does, is told by its length:
 * `⟨17 hidden characters⟩`. Single characters that join letters and pictures stay.
 *
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

/** Limits combining marks to six per letter: thousands would cover their surroundings and take long to draw. */
export function withFewMarks(text: string): string {
  return plain.test(text) ? text : text.replace(stacked, '$1')
}
