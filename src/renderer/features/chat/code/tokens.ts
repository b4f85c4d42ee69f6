/**
 * Token kinds that have a color, named after the variables of Shiki's theme. The colors are defined in `chat.css`.
 * Everything else, such as punctuation, is plain, so that most of a line needs no element.
 */
export const tokenKinds = [
  'plain',
  'constant',
  'string',
  'comment',
  'keyword',
  'parameter',
  'function',
  'string-expression',
  'link',
  'inserted',
  'deleted',
  'changed',
] as const

/** Tokens of one line as alternating lengths and kinds. */
export type LineTokens = readonly number[]

export type HighlightRequest =
  /** Further lines of a block, continuing after the previous ones. */
  | { type: 'lines'; block: number; language: string; from: number; lines: readonly string[] }
  | { type: 'close'; block: number }

export type HighlightResponse = { block: number; from: number; tokens: readonly LineTokens[] }
