import { FileText, Pencil } from 'lucide-react'
import { useMemo, useState } from 'react'
import { signWindowUrl } from '#renderer/api/windowLink.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { formatSize } from '#renderer/ui/sizeText.ts'
import { type Attachment, getAttachmentContent } from '#shared/contract/chatLibrary.ts'
import type { Message } from '#shared/contract/chatMessages.ts'
import { buildRequest } from '#shared/contract/route.ts'
import { escapeHidden, withFewMarks } from '#shared/untrustedText.ts'
import { useConversationWork } from './conversationContext.ts'
import { MessageActions } from './MessageActions.tsx'

/** Limits in characters and lines above which a message is collapsed. */
const collapseThreshold = { characters: 1_500, lines: 16 }

/** User's message, verbatim. */
export function UserMessage({ message }: { message: Message }) {
  const { editing, edit } = useConversationWork()
  const [open, setOpen] = useState(false)
  const { text, attachments } = message
  const isLong =
    text.length > collapseThreshold.characters ||
    text.split('\n', collapseThreshold.lines + 1).length > collapseThreshold.lines
  if (editing === message.id) return <EditMessage message={message} />
  return (
    <article aria-label="You" className="group/message flex flex-col items-end gap-1">
      {attachments.length > 0 && (
        <ul aria-label="Attachments" className="flex flex-wrap justify-end gap-2">
          {attachments.map((attachment) => (
            <li key={attachment.id}>
              <AttachmentView attachment={attachment} />
            </li>
          ))}
        </ul>
      )}
      {text !== '' && (
        <div className="max-w-[85%] rounded-dialog bg-panel px-3.5 py-2 outline-1 outline-line">
          <p
            dir="auto"
            className={joinClassNames('user-text whitespace-pre-wrap break-words', isLong && !open && 'line-clamp-12')}
          >
            {escapeHidden(withFewMarks(text))}
          </p>
          {isLong && (
            <button
              type="button"
              aria-expanded={open}
              onClick={() => setOpen(!open)}
              className="mt-1 text-small font-medium text-accent hover:underline"
            >
              {open ? 'Show less' : 'Show all'}
            </button>
          )}
        </div>
      )}
      <MessageActions message={message}>
        <IconButton size="small" label="Edit and resend" icon={Pencil} onClick={() => edit(message.id)} />
      </MessageActions>
    </article>
  )
}

function EditMessage({ message }: { message: Message }) {
  const { edit, sendEdited, attempt } = useConversationWork()
  const [text, setText] = useState(message.text)
  const [busy, setBusy] = useState(false)
  const send = () => {
    if (busy || text.trim() === '') return
    setBusy(true)
    attempt(() => sendEdited(message, text).finally(() => setBusy(false)))
  }
  return (
    <form
      aria-label="Edit message"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
      className="flex flex-col gap-2 rounded-dialog border border-edge bg-panel p-2"
    >
      <textarea
        dir="auto"
        aria-label="Message"
        value={text}
        rows={Math.min(14, Math.max(3, text.split('\n').length))}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return
          if (event.key === 'Escape') edit(undefined)
          if (event.key !== 'Enter' || event.shiftKey) return
          event.preventDefault()
          send()
        }}
        // The person has just asked to write here.
        // biome-ignore lint/a11y/noAutofocus: the user has just requested to type here
        autoFocus
        className="user-text w-full resize-y rounded-control bg-transparent px-2 py-1 outline-none"
      />
      <div className="flex items-center justify-end gap-2">
        <span className="flex-1 px-2 text-small text-faint">Earlier responses are kept. Switch with ‹ ›.</span>
        <Button size="small" variant="ghost" onClick={() => edit(undefined)}>
          Cancel
        </Button>
        <Button size="small" variant="primary" type="submit" busy={busy} disabled={text.trim() === ''}>
          Send
        </Button>
      </div>
    </form>
  )
}

/** Attachment of a message: a preview for images, otherwise the file name. Both open in a new tab or are downloaded. */
function AttachmentView({ attachment }: { attachment: Attachment }) {
  const { id, kind, name, size } = attachment
  // Signed once, because a changed URL would be loaded again.
  const address = useMemo(() => signWindowUrl(buildRequest(getAttachmentContent, { attachmentId: id }).path), [id])
  if (kind === 'image') {
    return (
      <a href={address} target="_blank" rel="noopener noreferrer" title={name}>
        <img src={address} alt={name} className="max-h-60 max-w-full rounded-card border border-line object-contain" />
      </a>
    )
  }
  return (
    <a
      href={address}
      download={name}
      className="flex max-w-72 items-center gap-2 rounded-card border border-line bg-panel px-3 py-2 hover:bg-hover"
    >
      <FileText aria-hidden className="size-4 shrink-0 text-muted" />
      <span className="min-w-0">
        <span className="block truncate">{name}</span>
        <span className="block text-small text-faint">{formatSize(size)}</span>
      </span>
    </a>
  )
}
