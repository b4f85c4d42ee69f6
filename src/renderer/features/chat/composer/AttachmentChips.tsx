import { FileText, Image, X } from 'lucide-react'
import { formatSize } from '#renderer/ui/sizeText.ts'
import type { Attachment } from '#shared/contract/chatLibrary.ts'

type AttachmentChipsProps = { attachments: readonly Attachment[]; uploading: number; onRemove: (id: string) => void }

export function AttachmentChips({ attachments, uploading, onRemove }: AttachmentChipsProps) {
  if (attachments.length === 0 && uploading === 0) return null
  return (
    <ul aria-label="Attached files" className="flex flex-wrap gap-1.5 px-3 pt-2.5">
      {attachments.map(({ id, name, kind, size }) => {
        const Icon = kind === 'image' ? Image : FileText
        return (
          <li
            key={id}
            className="flex h-7 max-w-60 items-center gap-1.5 rounded-control border border-line bg-panel pr-1 pl-2 text-small"
          >
            <Icon aria-hidden className="size-3.5 shrink-0 text-muted" />
            <span className="truncate" title={name}>
              {name}
            </span>
            <span className="shrink-0 text-faint">{formatSize(size)}</span>
            <button
              type="button"
              aria-label={`Remove ${name}`}
              onClick={() => onRemove(id)}
              className="flex size-5 shrink-0 items-center justify-center rounded-small text-muted hover:bg-hover hover:text-text"
            >
              <X aria-hidden className="size-3.5" />
            </button>
          </li>
        )
      })}
      {uploading > 0 && (
        <li role="status" className="flex h-7 items-center px-2 text-small text-muted">
          Uploading {uploading === 1 ? '1 file' : `${uploading} files`}…
        </li>
      )}
    </ul>
  )
}
