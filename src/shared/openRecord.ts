/** Longest unknown word that is shown, in characters. */
const maxLabelLength = 40

/**
 * Creates a table that other versions of Steward may extend: unknown keys get `fallback`. Enumeration lists known keys
 * only.
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

/** Formats a word that this version does not know: `awaiting-key` as `Awaiting key`. */
export function toPlainWord(word: string): string {
  const spaced = word.replace(/[-_.\s]+/g, ' ').trim()
  const label = spaced.length > maxLabelLength ? `${spaced.slice(0, maxLabelLength - 1)}…` : spaced
  return label === '' ? 'Unknown' : label.charAt(0).toUpperCase() + label.slice(1)
}
