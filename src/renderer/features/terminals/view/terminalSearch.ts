import { type ISearchOptions, SearchAddon } from '@xterm/addon-search'
import type { Terminal } from '@xterm/xterm'
import { createEmitter } from '#shared/emitter.ts'

export type SearchQuery = { text: string; caseSensitive: boolean; regex: boolean }
/** `place` is 1-based; undefined if there are more matches than are counted. */
export type SearchResult = { total: number; place: number | undefined } | 'invalid'

export type TerminalSearch = {
  next(query: SearchQuery): void
  previous(query: SearchQuery): void
  /** Searches upwards from the newest output. */
  fromEnd(query: SearchQuery): void
  end(): void
  decorate(decorations: Decorations): void
  onResult(listener: (result: SearchResult) => void): () => void
}

type Decorations = NonNullable<ISearchOptions['decorations']>

export function createTerminalSearch(terminal: Terminal): TerminalSearch {
  const addon = new SearchAddon()
  terminal.loadAddon(addon)
  const results = createEmitter<SearchResult>()
  let decorations: Decorations | undefined
  addon.onDidChangeResults(({ resultIndex, resultCount }) =>
    results.emit({ total: resultCount, place: resultIndex < 0 ? undefined : resultIndex + 1 }),
  )

  function find({ text, caseSensitive, regex }: SearchQuery, way: 'findNext' | 'findPrevious') {
    if (text === '') {
      addon.clearDecorations()
      results.emit({ total: 0, place: undefined })
      return
    }
    if (regex && !isExpression(text)) {
      results.emit('invalid')
      return
    }
    addon[way](text, { caseSensitive, regex, ...(decorations && { decorations }) })
  }

  return {
    next: (query) => find(query, 'findNext'),
    previous: (query) => find(query, 'findPrevious'),
    fromEnd(query) {
      terminal.clearSelection() // otherwise the search would start at the selection
      find(query, 'findPrevious')
    },
    end: () => addon.clearDecorations(),
    decorate(next) {
      decorations = next
    },
    onResult: results.subscribe,
  }
}

function isExpression(text: string): boolean {
  try {
    return new RegExp(text).source !== ''
  } catch {
    return false
  }
}
