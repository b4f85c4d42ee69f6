import { TriangleAlert, X } from 'lucide-react'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import type { RefusedFile } from './useAttachments.ts'

/** Files that were not attached, and why. */
export function RefusedFiles({ files, onClose }: { files: readonly RefusedFile[]; onClose: () => void }) {
  if (files.length === 0) return null
  return (
    <div
      role="alert"
      className="mb-2 flex items-start gap-2.5 rounded-card border border-line bg-negative-soft py-1.5 pr-1.5 pl-3"
    >
      <TriangleAlert aria-hidden className="mt-1 size-4 shrink-0 text-negative" />
      <div className="min-w-0 flex-1 py-0.5">
        <p className="font-medium">
          {files.length === 1 ? 'A file was not attached' : `${files.length} files were not attached`}
        </p>
        <ul
          // Scrolls by itself, so the keyboard must reach it.
          // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
          tabIndex={0}
          aria-label="Files that were not attached"
          className="max-h-32 overflow-y-auto max-narrow:max-h-16"
        >
          {files.map(({ name, reason }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: names may be alike, and the list stays
            <li key={index} className="break-words">
              {name}: <span className="text-muted">{reason}</span>
            </li>
          ))}
        </ul>
      </div>
      <IconButton size="small" label="Dismiss" icon={X} onClick={onClose} />
    </div>
  )
}
