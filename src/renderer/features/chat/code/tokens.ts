/**
 * The kinds of a token that have a color, by the variables of shiki's theme; the colors are in `chat.css`. Whatever is
 * not among them, such as punctuation, is plain: most of a line needs no element then.
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

/** Tokens of one line: alternating length and kind. */
export type LineTokens = readonly number[]

/** Message to the highlighting worker. */
export type HighlightRequest =
  /** Further lines of a block, which go on where those before ended. */
  | { type: 'lines'; block: number; language: string; from: number; lines: readonly string[] }
  | { type: 'close'; block: number }

export type HighlightAnswer = { block: number; from: number; tokens: readonly LineTokens[] }
