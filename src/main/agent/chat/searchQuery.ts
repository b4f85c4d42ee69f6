import type { SnippetPart } from '#shared/contract/chats.ts'

/**
 * Builds an FTS5 query. Every word must occur; the last word is a prefix unless a space or quote follows. Operators in
 * the input are escaped.
 * @returns undefined if the input has no searchable word
 */
export function searchQuery(typed: string): string | undefined {
  const terms = [...typed.matchAll(/"([^"]*)"|([^\s"]+)/g)]
  const words = terms
    .map(([, phrase, word], index) => {
      const isBeginning = word !== undefined && index === terms.length - 1
      const text = (phrase ?? word ?? '').trim()
      return /[\p{L}\p{N}]/u.test(text) ? `"${text}"${isBeginning ? '*' : ''}` : undefined
    })
    .filter((it) => it !== undefined)
  return words.length === 0 ? undefined : words.join(' AND ')
}

/** @param marked snippet with matches between \u0001 and \u0002 */
export function splitSnippet(marked: string): SnippetPart[] {
  return marked
    .split('\u0001')
    .flatMap((piece, index) => {
      if (index === 0) return [{ text: piece, hit: false }]
      const [hit = '', ...rest] = piece.split('\u0002')
      return [
        { text: hit, hit: true },
        { text: rest.join(''), hit: false },
      ]
    })
    .map(({ text, hit }) => ({ text: text.replace(/\s+/g, ' '), hit }))
    .filter(({ text }) => text !== '')
}
