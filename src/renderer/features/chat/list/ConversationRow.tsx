import { MoreHorizontal, Pin } from 'lucide-react'
import { memo } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { ContextMenu, Menu, type MenuItem } from '#renderer/ui/Menu.tsx'
import { buildAddress } from '#renderer/ui/route.ts'
import { TimeAgo } from '#renderer/ui/TimeAgo.tsx'
import type { ConversationSummary } from '#shared/contract/chats.ts'
import { formatCost } from '../money/amounts.ts'

type ConversationRowProps = {
  conversation: ConversationSummary
  isPresent: boolean
  itemsOf: (conversation: ConversationSummary) => readonly MenuItem[]
  onKey: (key: string, conversation: ConversationSummary) => boolean
}

export const ConversationRow = memo(function ConversationRow({
  conversation,
  isPresent,
  itemsOf,
  onKey,
}: ConversationRowProps) {
  const {
    id,
    title,
    pinned,
    cost_micro_usd: cost,
    cost_estimated: isEstimate,
    answering,
    updated_at: updatedAt,
  } = conversation
  const items = itemsOf(conversation)
  return (
    <ContextMenu items={items}>
      <div
        className={joinClassNames('group/row relative rounded-control', isPresent ? 'bg-selected' : 'hover:bg-hover')}
      >
        <a
          href={buildAddress('chat', id)}
          aria-current={isPresent ? 'true' : undefined}
          onKeyDown={(event) => {
            if (onKey(event.key, conversation)) event.preventDefault()
          }}
          className="block rounded-control px-2 py-1.5"
        >
          <span className="flex items-center gap-1.5 pr-5">
            <span dir="auto" className="min-w-0 flex-1 truncate text-left">
              {title}
            </span>
            {pinned && (
              <>
                <Pin aria-hidden className="size-3 shrink-0 text-faint" />
                <span className="sr-only">, pinned</span>
              </>
            )}
          </span>
          <span className="flex items-center gap-1.5 text-small text-faint tabular-nums">
            {answering > 0 ? (
              <span className="flex items-center gap-1.5 text-accent">
                <span aria-hidden className="animate-breathe size-1.5 rounded-full bg-accent" />
                Responding…
              </span>
            ) : (
              <TimeAgo at={updatedAt} />
            )}
            <span className="min-w-0 flex-1" />
            {cost > 0 && (
              <span>
                {isEstimate && '~'}
                {formatCost(cost)}
              </span>
            )}
          </span>
        </a>
        <Menu items={items} align="end">
          <IconButton
            size="small"
            label={`More for ${title}`}
            icon={MoreHorizontal}
            className="absolute! top-1 right-1 opacity-0 group-focus-within/row:opacity-100 group-hover/row:opacity-100 aria-expanded:opacity-100"
          />
        </Menu>
      </div>
    </ContextMenu>
  )
})
