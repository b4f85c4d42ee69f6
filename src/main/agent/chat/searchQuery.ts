import type { SnippetPart } from '#shared/contract/chats.ts'

/**
 * What a person types, in the language of FTS5: every word must occur, the last one as a beginning unless a blank or a
 * quote ends it. Nothing in it is an operator.
 * @returns undefined where nothing can be looked for
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

/** @param marked what was found stands between \u0001 and \u0002 */
export function snippetParts(marked: string): SnippetPart[] {
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
