import { type DragEvent, useState } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import type { Side } from '../layout/paneTree.ts'

const previews: Record<Side, string> = {
  left: 'inset-y-0 left-0 w-1/2',
  right: 'inset-y-0 right-0 w-1/2',
  up: 'inset-x-0 top-0 h-1/2',
  down: 'inset-x-0 bottom-0 h-1/2',
}

/** Drop target over a pane, shown while a terminal is dragged. Highlights the half that the terminal would occupy. */
export function DropZone({ onDrop }: { onDrop: (side: Side) => void }) {
  const [side, setSide] = useState<Side>()
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: pointer only; the palette and shortcuts do the same
    <div
      role="presentation"
      data-drop-zone
      className="absolute inset-0 z-30"
      onDragOver={(event) => {
        event.preventDefault()
        event.dataTransfer.dropEffect = 'move'
        setSide(findNearestSide(event))
      }}
      onDragLeave={() => setSide(undefined)}
      onDrop={(event) => {
        event.preventDefault()
        onDrop(findNearestSide(event))
      }}
    >
      {side && (
        <div
          data-drop-preview={side}
          className={joinClassNames(
            'pointer-events-none absolute border-2 border-accent bg-accent-soft transition-all duration-100',
            previews[side],
          )}
        />
      )}
    </div>
  )
}

function findNearestSide({ currentTarget, clientX, clientY }: DragEvent): Side {
  const { left, top, width, height } = currentTarget.getBoundingClientRect()
  const x = (clientX - left) / width - 0.5
  const y = (clientY - top) / height - 0.5
  if (Math.abs(x) > Math.abs(y)) return x < 0 ? 'left' : 'right'
  return y < 0 ? 'up' : 'down'
}
