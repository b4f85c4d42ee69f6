import { FileText } from 'lucide-react'
import { useMemo } from 'react'
import { buildWindowAddress } from '#renderer/api/windowLink.ts'
import { formatSize } from '#renderer/ui/sizeText.ts'
import { type Attachment, getAttachmentContent } from '#shared/contract/chatLibrary.ts'
import { buildRequest } from '#shared/contract/route.ts'

/** An image as it is, any other file by its name; both open in a tab of their own or are downloaded. */
export function AttachmentView({ attachment }: { attachment: Attachment }) {
  const { id, kind, name, size } = attachment
  // Signed once: an address that changed would be read again.
  const address = useMemo(() => buildWindowAddress(buildRequest(getAttachmentContent, { attachmentId: id }).path), [id])
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
