import { Box, RotateCw, Trash2, TriangleAlert } from 'lucide-react'
import type { Image } from '#shared/contract/images.ts'
import { Button } from '../../ui/Button.tsx'
import { IconButton } from '../../ui/IconButton.tsx'
import { formatSize } from '../../ui/sizeText.ts'

type ImageRowProps = { image: Image; onAgain: () => void; onRemove: () => void }

export function ImageRow({ image, onAgain, onRemove }: ImageRowProps) {
  const { name, runtime, status, detail, progress, size_bytes } = image
  const failed = status === 'failed'
  const Mark = failed ? TriangleAlert : Box
  return (
    <li className="flex items-start gap-2.5 py-2" data-image={name} data-status={status}>
      <Mark aria-hidden className={`mt-0.5 size-4 shrink-0 ${failed ? 'text-negative' : 'text-faint'}`} />
      <div className="min-w-0 flex-1">
        <p className="flex items-baseline gap-2">
          <span className="truncate font-medium text-text">{name}</span>
          <span className="shrink-0 text-small text-faint">
            {runtime}
            {size_bytes !== null && ` · ${formatSize(size_bytes)}`}
          </span>
        </p>
        <p className="text-small break-words text-muted">{detail}</p>
        {status === 'adding' && <Progress name={name} share={progress} />}
      </div>
      {failed && (
        <Button size="small" icon={RotateCw} onClick={onAgain}>
          Try again
        </Button>
      )}
      <IconButton
        label={status === 'adding' ? `Cancel adding ${name}` : `Remove ${name}`}
        icon={Trash2}
        onClick={onRemove}
      />
    </li>
  )
}

/** Progress bar; indeterminate if `share` is null. */
function Progress({ name, share }: { name: string; share: number | null }) {
  return (
    <div
      role="progressbar"
      aria-label={`Adding ${name}`}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(share !== null && { 'aria-valuenow': Math.round(share * 100) })}
      className="mt-1.5 h-1 overflow-hidden rounded-full bg-selected"
    >
      <div
        className={share === null ? 'animate-slide h-full w-1/3 bg-accent' : 'h-full bg-accent'}
        {...(share !== null && { style: { width: `${share * 100}%` } })}
      />
    </div>
  )
}
