export type SearchQuery = { text: string; regex: boolean; caseSensitive: boolean; limit: number }

/** @throws SyntaxError if the text is not a valid expression */
export function parseSearchExpression({ text, regex, caseSensitive }: Omit<SearchQuery, 'limit'>): RegExp {
  const pattern = regex ? text : text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  return new RegExp(pattern, caseSensitive ? 'g' : 'gi')
}
