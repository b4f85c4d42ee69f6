import { Button } from '#renderer/ui/Button.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { buildAddress } from '#renderer/ui/route.ts'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { TimeAgo } from '#renderer/ui/TimeAgo.tsx'
import type { ChatHit, SnippetPart } from '#shared/contract/chats.ts'
import { useSearch } from '../data/useConversations.ts'

/** Matching messages and titles. Each links to its position. */
export function SearchResults({ words }: { words: string }) {
  const { data, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useSearch(words)
  if (isPending) return <SkeletonRows label="Searching…" count={4} rowClassName="h-12" />
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  const hits = deduplicateHits(data.pages.flatMap((page) => page.hits))
  if (hits.length === 0) {
    return (
      <p role="status" className="px-2 py-1 text-muted">
        No matches for “{words}”.
      </p>
    )
  }
  return (
    <>
      <p role="status" className="sr-only">
        {hits.length} {hits.length === 1 ? 'match' : 'matches'}
      </p>
      <ul aria-label="Matches" className="flex flex-col gap-0.5">
        {hits.map((hit) => (
          <li key={hit.message_id ?? hit.conversation_id}>
            <HitRow hit={hit} />
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <Button size="small" variant="ghost" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          More matches
        </Button>
      )}
    </>
  )
}

function HitRow({ hit: { conversation_id: id, message_id: message, title, role, snippet, at } }: { hit: ChatHit }) {
  return (
    <a
      href={buildAddress('chat', id, ...(message ? [message] : []))}
      className="block rounded-control px-2 py-1.5 hover:bg-hover"
    >
      <span className="flex items-center gap-2">
        <span dir="auto" className="min-w-0 flex-1 truncate text-left font-medium">
          {title}
        </span>
        <TimeAgo at={at} />
      </span>
      <span className="line-clamp-2 text-small break-words text-muted">
        {role !== null && <span className="text-faint">{role === 'user' ? 'You: ' : 'Response: '}</span>}
        {snippet.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no id and keep their order
          <Part key={index} part={part} />
        ))}
      </span>
    </a>
  )
}

function Part({ part: { text, hit } }: { part: SnippetPart }) {
  return hit ? <mark className="rounded-small bg-accent-soft text-text">{text}</mark> : text
}

/** Removes title hits of chats that are also found by a message, because a chat's title is its first message. */
function deduplicateHits(hits: readonly ChatHit[]): ChatHit[] {
  const byMessage = new Set(hits.filter(({ message_id: id }) => id !== null).map((it) => it.conversation_id))
  return hits.filter((hit) => hit.message_id !== null || !byMessage.has(hit.conversation_id))
}
