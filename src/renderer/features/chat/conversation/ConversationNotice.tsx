import { Unplug, X } from 'lucide-react'
import { IconButton } from '#renderer/ui/IconButton.tsx'

type ConversationNoticeProps = { notice: string | null; onDismiss: () => void }

/** Sentence above the composer, until it is dismissed. */
export function ConversationNotice({ notice, onDismiss }: ConversationNoticeProps) {
  if (notice === null) return null
  return (
    <div
      role="status"
      className="mb-2 flex items-center gap-x-2.5 rounded-card border border-line bg-caution-soft px-3 py-1.5"
    >
      <Unplug aria-hidden className="size-4 shrink-0 text-caution" />
      <p className="min-w-0 flex-1">{notice}</p>
      <IconButton label="Dismiss" icon={X} size="small" onClick={onDismiss} />
    </div>
  )
}
