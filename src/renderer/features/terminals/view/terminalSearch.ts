import { type ISearchOptions, SearchAddon } from '@xterm/addon-search'
import type { Terminal } from '@xterm/xterm'

export type SearchQuery = { text: string; caseSensitive: boolean; regex: boolean }
/** `place` counts from 1; it is undefined when there are more matches than are counted. */
export type SearchResult = { total: number; place: number | undefined } | 'invalid'

export type TerminalSearch = {
  next(query: SearchQuery): void
  previous(query: SearchQuery): void
  /** From the newest output upwards. */
  fromEnd(query: SearchQuery): void
  end(): void
  decorate(decorations: Decorations): void
  onResult(listener: (result: SearchResult) => void): () => void
}

type Decorations = NonNullable<ISearchOptions['decorations']>

export function terminalSearch(terminal: Terminal): TerminalSearch {
  const addon = new SearchAddon()
  terminal.loadAddon(addon)
  const listeners = new Set<(result: SearchResult) => void>()
  let decorations: Decorations | undefined
  addon.onDidChangeResults(({ resultIndex, resultCount }) =>
    tell({ total: resultCount, place: resultIndex < 0 ? undefined : resultIndex + 1 }),
  )

  function tell(result: SearchResult): void {
    for (const listener of listeners) listener(result)
  }

  function find({ text, caseSensitive, regex }: SearchQuery, way: 'findNext' | 'findPrevious') {
    if (text === '') {
      addon.clearDecorations()
      tell({ total: 0, place: undefined })
      return
    }
    if (regex && !isExpression(text)) {
      tell('invalid')
      return
    }
    addon[way](text, { caseSensitive, regex, ...(decorations && { decorations }) })
  }

  return {
    next: (query) => find(query, 'findNext'),
    previous: (query) => find(query, 'findPrevious'),
    fromEnd(query) {
      terminal.clearSelection() // a search goes on from what is selected
      find(query, 'findPrevious')
    },
    end: () => addon.clearDecorations(),
    decorate(next) {
      decorations = next
    },
    onResult(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

function isExpression(text: string): boolean {
  try {
    return new RegExp(text).source !== ''
  } catch {
    return false
  }
}
