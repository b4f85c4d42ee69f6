import { Check, ChevronLeft, ChevronRight, Copy, GitFork, Link2, MoreHorizontal, ScrollText } from 'lucide-react'
import type { ReactNode } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { copyText } from '#renderer/ui/copyText.ts'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { Menu } from '#renderer/ui/Menu.tsx'
import { buildAddress, goTo } from '#renderer/ui/route.ts'
import { notify } from '#renderer/ui/toast.tsx'
import { useCopied } from '#renderer/ui/useCopied.ts'
import type { Message } from '#shared/contract/chatMessages.ts'
import { useConversationWork } from './conversationContext.ts'

type MessageActionsProps = {
  message: Message
  /** Content at the end of the line, such as the cost. */
  note?: ReactNode
  /** Whether the actions are visible without hovering. */
  stays?: boolean
  children?: ReactNode
}

export function MessageActions({ message, note, stays = false, children }: MessageActionsProps) {
  const { conversationId, actions, attempt } = useConversationWork()
  const { copied, copy } = useCopied(message.text)
  const copyLink = async () => {
    const address = new URL(buildAddress('chat', conversationId, message.id), window.location.href)
    if (await copyText(address.href)) notify.done('Copied the link to this message')
  }
  return (
    <div className="flex min-h-6 flex-wrap items-center gap-0.5">
      <SiblingSwitch message={message} />
      <div
        className={joinClassNames(
          'flex items-center gap-0.5 transition-opacity duration-100',
          !stays &&
            'opacity-0 group-focus-within/message:opacity-100 group-hover/message:opacity-100 has-aria-expanded:opacity-100',
        )}
      >
        {message.text !== '' && (
          <IconButton
            size="small"
            label={copied ? 'Copied' : 'Copy'}
            icon={copied ? Check : Copy}
            onClick={() => void copy()}
          />
        )}
        {children}
        <Menu
          items={[
            {
              label: 'Fork from here',
              icon: GitFork,
              onSelect: () => attempt(() => actions.fork(conversationId, message.id)),
            },
            { label: 'Copy link to message', icon: Link2, onSelect: () => void copyLink() },
            {
              label: 'Show in Activity',
              icon: ScrollText,
              onSelect: () => goTo('activity', 'task', getTurnId(message)),
            },
          ]}
        >
          <IconButton size="small" label="More" icon={MoreHorizontal} />
        </Menu>
      </div>
      {note}
    </div>
  )
}

/** Returns the id of a message's turn in the activity log, which is based on the user message. */
function getTurnId({ id, role, parent_id: parent }: Message): string {
  return `chat:${role === 'assistant' ? (parent ?? id) : id}`
}

/** Switches between edits of a message or alternative responses (`‹ 2/3 ›`), each with its subsequent messages. */
function SiblingSwitch({ message: { id, sibling_ids: siblings, group_id: group } }: { message: Message }) {
  const { conversationId, actions, attempt } = useConversationWork()
  const at = siblings.indexOf(id)
  if (siblings.length < 2 || at < 0 || group !== null) return null
  const go = (index: number) => {
    const leaf = siblings[index]
    if (leaf) attempt(() => actions.change(conversationId, { leaf_id: leaf }))
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of content, not of form fields
    <div role="group" aria-label="Versions" className="mr-1 flex items-center text-small text-muted tabular-nums">
      <IconButton
        size="small"
        label="Previous version"
        icon={ChevronLeft}
        disabled={at === 0}
        onClick={() => go(at - 1)}
      />
      <span>
        {at + 1}/{siblings.length}
      </span>
      <IconButton
        size="small"
        label="Next version"
        icon={ChevronRight}
        disabled={at === siblings.length - 1}
        onClick={() => go(at + 1)}
      />
    </div>
  )
}
