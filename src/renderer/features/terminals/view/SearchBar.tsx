import { ArrowDown, ArrowUp, CaseSensitive, Regex, X } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import type { SearchQuery, SearchResult, TerminalSearch } from './terminalSearch.ts'

type SearchBarProps = { search: TerminalSearch; onClose: () => void }

export function SearchBar({ search, onClose }: SearchBarProps) {
  const [query, setQuery] = useState<SearchQuery>({ text: '', caseSensitive: false, regex: false })
  const [result, setResult] = useState<SearchResult>()
  const field = useRef<HTMLDivElement>(null)

  useEffect(() => search.onResult(setResult), [search])
  useEffect(() => () => search.end(), [search])
  // Triggering the search again focuses its field.
  useEffect(() => field.current?.querySelector('input')?.focus(), [])

  const change = (part: Partial<SearchQuery>) => {
    const next = { ...query, ...part }
    setQuery(next)
    search.fromEnd(next)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onClose()
    else if (event.key !== 'Enter') return
    // Searches upwards from the newest output.
    else if (event.shiftKey) search.next(query)
    else search.previous(query)
    event.preventDefault()
  }

  return (
    <search
      aria-label="Search in terminal"
      className="animate-appear absolute top-2 right-5 z-20 flex w-96 max-w-[calc(100%-2rem)] items-center gap-0.5 rounded-card bg-raised py-1 pr-1 pl-1 shadow-popover has-[input:focus-visible]:outline-2 has-[input:focus-visible]:outline-accent"
    >
      <div ref={field} className="min-w-0 flex-1">
        <TextField
          label="Search in terminal"
          labelHidden
          placeholder="Search"
          value={query.text}
          onChange={(text) => change({ text })}
          onKeyDown={onKeyDown}
          aria-invalid={result === 'invalid' || undefined}
          className="h-7 border-transparent bg-transparent shadow-none outline-none hover:not-disabled:bg-transparent"
        />
      </div>
      <output className="shrink-0 px-1.5 text-small tabular-nums text-muted">{formatCount(query, result)}</output>
      <IconButton
        size="small"
        icon={CaseSensitive}
        label="Match case"
        aria-pressed={query.caseSensitive}
        onClick={() => change({ caseSensitive: !query.caseSensitive })}
      />
      <IconButton
        size="small"
        icon={Regex}
        label="Regular expression"
        aria-pressed={query.regex}
        onClick={() => change({ regex: !query.regex })}
      />
      <span aria-hidden className="mx-0.5 h-4 w-px bg-line" />
      <IconButton
        size="small"
        icon={ArrowUp}
        label="Previous match"
        shortcut="enter"
        onClick={() => search.previous(query)}
      />
      <IconButton
        size="small"
        icon={ArrowDown}
        label="Next match"
        shortcut="shift+enter"
        onClick={() => search.next(query)}
      />
      <IconButton size="small" icon={X} label="Close search" shortcut="escape" onClick={onClose} />
    </search>
  )
}

function formatCount({ text }: SearchQuery, result: SearchResult | undefined): string {
  if (text === '' || result === undefined) return ''
  if (result === 'invalid') return 'Invalid expression'
  if (result.total === 0) return 'No results'
  return `${result.place ?? 'many'} of ${result.total}`
}
