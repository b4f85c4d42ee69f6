import { ZoomIn, ZoomOut } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import type { SandboxId } from '#shared/ids.ts'
import { downloadUrl } from '../fileLinks.ts'
import { formatSize, getBasename } from '../paths.ts'

type ImageViewProps = { sandboxId: SandboxId; path: string; version: string; size: number }

const zooms = [0.1, 0.25, 0.5, 1, 2, 4, 8]

/** Rendered by an `img` element only, so that scripts in an SVG do not run. */
export function ImageView({ sandboxId, path, version, size }: ImageViewProps) {
  const [natural, setNatural] = useState<{ width: number; height: number }>()
  const [zoom, setZoom] = useState<number>()
  const [broken, setBroken] = useState(false)
  const present = zoom ?? 1
  const step = (by: 1 | -1) => {
    const next = by === 1 ? zooms.find((it) => it > present) : zooms.findLast((it) => it < present)
    setZoom(next ?? present)
  }
  // The version is part of the URL, so that a changed image is loaded again.
  const source = useMemo(
    () => `${downloadUrl(sandboxId, { path, isFolder: false })}#${version}`,
    [sandboxId, path, version],
  )
  return (
    <div className="flex size-full flex-col">
      <div className="flex h-8 shrink-0 items-center gap-1 border-b border-line px-2">
        <span className="min-w-0 flex-1 truncate text-small text-muted tabular-nums">
          {natural && `${natural.width} × ${natural.height} · `}
          {formatSize(size)}
        </span>
        <IconButton size="small" label="Zoom out" icon={ZoomOut} onClick={() => step(-1)} />
        <Button size="small" variant="ghost" aria-pressed={zoom === undefined} onClick={() => setZoom(undefined)}>
          {zoom === undefined ? 'Fit' : `${Math.round(zoom * 100)}%`}
        </Button>
        <IconButton size="small" label="Zoom in" icon={ZoomIn} onClick={() => step(1)} />
      </div>
      <div className="flex min-h-0 flex-1 overflow-auto bg-panel p-3">
        {broken ? (
          <p className="m-auto text-muted">This image cannot be displayed.</p>
        ) : (
          <img
            src={source}
            alt={getBasename(path)}
            onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
              setNatural({ width, height })
            }
            onError={() => setBroken(true)}
            className={`m-auto ${zoom === undefined ? 'max-h-full max-w-full object-contain' : 'max-w-none'}`}
            style={zoom !== undefined && natural ? { width: natural.width * zoom } : undefined}
          />
        )}
      </div>
    </div>
  )
}
