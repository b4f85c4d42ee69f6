/** Maximum length of the label of an unknown enum value, in characters. */
const maxLabelLength = 40

/**
 * Creates a record that other versions of Steward may extend. Unknown keys return `fallback`. Enumeration lists only
 * known keys.
 */
export function openRecord<Word extends string, Entry>(
  entries: Readonly<Record<Word, Entry>>,
  fallback: (word: string) => Entry,
): Readonly<Record<Word, Entry>> {
  return new Proxy(entries, {
    get(table, word) {
      return typeof word === 'string' && !Object.hasOwn(table, word) ? fallback(word) : Reflect.get(table, word)
    },
  })
}

/** Formats an unknown enum value: `awaiting-key` as `Awaiting key`. */
export function toPlainWord(word: string): string {
  const spaced = word.replace(/[-_.\s]+/g, ' ').trim()
  const label = spaced.length > maxLabelLength ? `${spaced.slice(0, maxLabelLength - 1)}…` : spaced
  return label === '' ? 'Unknown' : label.charAt(0).toUpperCase() + label.slice(1)
}
