import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { Command as Primitive } from 'cmdk'
import { CaseSensitive, Regex, Search } from 'lucide-react'
import { Dialog as DialogPrimitive } from 'radix-ui'
import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import type { TerminalList } from '#renderer/api/terminals/terminalList.ts'
import { terminalsKey } from '#renderer/api/terminals/useTerminals.ts'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { Kbd } from '#renderer/ui/Kbd.tsx'
import { useLayers } from '#renderer/ui/Layers.tsx'
import { useDebounced } from '#renderer/ui/useDebounced.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { searchTerminals, type TerminalMatch } from '#shared/contract/terminalSearch.ts'
import type { SandboxId } from '#shared/ids.ts'
import { buildTabLabels } from '../sessions/tabLabels.ts'

type SearchAllQuery = { text: string; regex: boolean; caseSensitive: boolean }

/** Debounce while the user types, in milliseconds. */
const searchDebounceMs = 150

type MatchGroup = { id: string; title: string; matches: readonly TerminalMatch[] }

type GroupSources = { sandboxes: readonly Sandbox[]; listCachedTerminals: (sandboxId: string) => TerminalList }

type SearchAllDialogProps = {
  sandboxes: readonly Sandbox[]
  onOpen: (match: TerminalMatch) => void
  onClose: () => void
}

/** Mount only while open. */
export function SearchAllDialog({ onClose, ...rest }: SearchAllDialogProps) {
  return (
    <DialogPrimitive.Root open onOpenChange={(open) => !open && onClose()}>
      <DialogPrimitive.Portal container={useLayers()}>
        <DialogPrimitive.Overlay className="animate-fade fixed inset-0 z-40 bg-overlay" />
        <DialogPrimitive.Content
          aria-describedby={undefined}
          onCloseAutoFocus={(event) => event.preventDefault()} // the visible terminal takes the focus instead
          className="animate-appear fixed top-[10vh] left-1/2 z-40 w-[calc(100%-2rem)] max-w-180 -translate-x-1/2 overflow-hidden rounded-dialog bg-raised text-text shadow-dialog outline-none"
        >
          <DialogPrimitive.Title className="sr-only">Search in all terminals</DialogPrimitive.Title>
          <SearchAll {...rest} />
        </DialogPrimitive.Content>
      </DialogPrimitive.Portal>
    </DialogPrimitive.Root>
  )
}

function SearchAll({ sandboxes, onOpen }: Omit<SearchAllDialogProps, 'onClose'>) {
  const queryClient = useQueryClient()
  const [query, setQuery] = useState<SearchAllQuery>({ text: '', regex: false, caseSensitive: false })
  const { data, error, isFetching } = useTerminalSearch(query)
  const results = query.text === '' || error ? undefined : data
  const listCachedTerminals = (id: string) =>
    queryClient.getQueryData<TerminalList>(terminalsKey(id as SandboxId)) ?? []
  const groups = groupMatches(results?.matches ?? [], { sandboxes, listCachedTerminals })
  return (
    <Primitive label="Search in all terminals" shouldFilter={false} loop>
      <div className="flex h-11 items-center gap-2 border-b border-line pr-2 pl-3.5">
        <Search aria-hidden className="size-4 shrink-0 text-faint" />
        <Primitive.Input
          placeholder="Search in all terminals"
          value={query.text}
          onValueChange={(text) => setQuery({ ...query, text })}
          className="h-full min-w-0 flex-1 bg-transparent text-title outline-none"
        />
        <IconButton
          size="small"
          icon={CaseSensitive}
          label="Match case"
          aria-pressed={query.caseSensitive}
          onClick={() => setQuery({ ...query, caseSensitive: !query.caseSensitive })}
        />
        <IconButton
          size="small"
          icon={Regex}
          label="Regular expression"
          aria-pressed={query.regex}
          onClick={() => setQuery({ ...query, regex: !query.regex })}
        />
        <Kbd shortcut="escape" />
      </div>
      {error && query.text !== '' && (
        <div className="p-2">
          <ErrorNotice error={error} />
        </div>
      )}
      <Primitive.List label="Matches" aria-busy={isFetching} className="max-h-[min(32rem,60vh)] overflow-auto p-1.5">
        {query.text !== '' && results?.matches.length === 0 && (
          <p className="px-2.5 py-6 text-center text-muted">No matches in {formatTerminalCount(results.searched)}.</p>
        )}
        {groups.map(({ id, title, matches }) => (
          <Primitive.Group
            key={id}
            heading={title}
            className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-small [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-muted"
          >
            {matches.map((match) => (
              <Primitive.Item
                key={toMatchKey(match)}
                value={toMatchKey(match)}
                onSelect={() => onOpen(match)}
                className="flex h-7 items-center rounded-control px-2 font-mono text-small aria-selected:bg-selected"
              >
                <span className="truncate whitespace-pre">
                  <span className="text-muted">{match.text.slice(0, match.start).trimStart().slice(-40)}</span>
                  <mark className="rounded-small bg-caution-soft text-text">
                    {match.text.slice(match.start, match.end)}
                  </mark>
                  <span className="text-muted">{match.text.slice(match.end)}</span>
                </span>
              </Primitive.Item>
            ))}
          </Primitive.Group>
        ))}
      </Primitive.List>
      <p role="status" className="border-t border-line px-3.5 py-1.5 text-small text-muted">
        {query.text === ''
          ? 'Searches the output of all terminals in all sandboxes.'
          : results &&
            `${matchCount(results.matches.length, results.truncated)} in ${formatTerminalCount(results.searched)}`}
      </p>
    </Primitive>
  )
}

function toMatchKey({ session_id, row, start }: TerminalMatch): string {
  return `${session_id} ${row} ${start}`
}

function matchCount(count: number, truncated: boolean): string {
  if (truncated) return `Newest ${count} matches`
  return count === 1 ? '1 match' : `${count} matches`
}

function formatTerminalCount(count: number): string {
  return count === 1 ? '1 terminal' : `${count} terminals`
}

/** Groups matches by terminal in order of arrival, labeled like the tabs. */
function groupMatches(
  matches: readonly TerminalMatch[],
  { sandboxes, listCachedTerminals }: GroupSources,
): MatchGroup[] {
  const groups = new Map<string, TerminalMatch[]>()
  for (const match of matches) groups.set(match.session_id, [...(groups.get(match.session_id) ?? []), match])
  return [...groups].map(([id, own]) => {
    const sandboxId = own[0]?.sandbox_id ?? ''
    const name = buildTabLabels(listCachedTerminals(sandboxId)).get(id) ?? id
    const sandbox = sandboxes.find((it) => it.id === sandboxId)?.name
    return { id, title: sandbox === undefined ? name : `${sandbox} › ${name}`, matches: own }
  })
}

function useTerminalSearch(query: SearchAllQuery) {
  const agent = useAgent()
  const debounced = useDebounced(query, searchDebounceMs)
  return useQuery({
    queryKey: ['terminal-search', debounced],
    queryFn: ({ signal }) =>
      agent(
        searchTerminals,
        { q: debounced.text, regex: debounced.regex, case_sensitive: debounced.caseSensitive },
        { signal },
      ),
    enabled: debounced.text !== '',
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 0,
    gcTime: 0,
  })
}
