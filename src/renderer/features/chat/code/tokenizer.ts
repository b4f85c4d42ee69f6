import { createCssVariablesTheme, createHighlighterCore, type GrammarState, type HighlighterCore } from 'shiki/core'
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript'
import { findLanguage, loadGrammar } from './languages.ts'
import { type LineTokens, tokenKinds } from './tokens.ts'

const kinds: readonly string[] = tokenKinds
const theme = createCssVariablesTheme({ name: 'steward', variablePrefix: '--', fontStyle: false })
/** Maximum length of a highlighted line in characters. The rest stays plain. */
const maxLine = 1_000
/** Time limit for one line, in milliseconds. The rest of the line stays plain. */
const defaultMaxLineMs = 1_000

export type Tokenizer = {
  /** Tokenizes lines that follow the previous ones. @returns undefined if there is no grammar for the language */
  take(language: string, lines: readonly string[]): Promise<LineTokens[] | undefined>
}

/** Creates tokenizers that share loaded grammars. */
export function createTokenizers({ maxLineMs = defaultMaxLineMs } = {}): () => Tokenizer {
  let core: Promise<HighlighterCore> | undefined
  const load = async (name: string): Promise<HighlighterCore | undefined> => {
    const language = findLanguage(name)
    if (language === undefined) return undefined
    core ??= createHighlighterCore({
      themes: [theme],
      langs: [],
      engine: createJavaScriptRegexEngine({ forgiving: true }),
    })
    const highlighter = await core
    if (!highlighter.getLoadedLanguages().includes(language)) {
      await highlighter.loadLanguage(await loadGrammar(language))
    }
    return highlighter
  }
  return () => {
    let state: GrammarState | undefined
    return {
      async take(name, lines) {
        const highlighter = await load(name)
        const lang = findLanguage(name)
        if (!highlighter || lang === undefined) return undefined
        const result = highlighter.codeToTokensBase(lines.join('\n'), {
          lang,
          theme: 'steward',
          tokenizeMaxLineLength: maxLine,
          tokenizeTimeLimit: maxLineMs,
          ...(state && { grammarState: state }),
        })
        state = highlighter.getLastGrammarState(result) ?? state
        return result.map((line) => mergeTokens(line))
      },
    }
  }
}

/** Merges adjacent tokens of the same kind. Whitespace belongs to the preceding token. */
function mergeTokens(line: readonly { content: string; color?: string | undefined }[]): LineTokens {
  const tokens: number[] = []
  for (const { content, color } of line) {
    const isBlank = content.trim() === ''
    const kind = isBlank && tokens.length > 0 ? (tokens.at(-1) ?? 0) : toTokenKind(content, color)
    if (tokens.at(-1) === kind) tokens[tokens.length - 2] = (tokens.at(-2) ?? 0) + content.length
    else tokens.push(content.length, kind)
  }
  return tokens
}

/**
 * Shiki's theme uses one color for keywords and operators. Operators are rendered plain, like the punctuation around
 * them.
 */
function toTokenKind(content: string, color: string | undefined): number {
  const [, name] = /^var\(--token-([a-z-]+)\)$/.exec(color ?? '') ?? []
  if (name === 'keyword' && !/\p{L}/u.test(content)) return 0
  return Math.max(0, kinds.indexOf(name ?? ''))
}
