import type { ReactNode } from 'react'
import { Group, type Layout, Panel, Separator } from 'react-resizable-panels'

type ResizablePanelsProps = {
  /** Under this name the sizes are kept for the next time. */
  id: string
  /** What the divider sizes, read aloud: `Width of the sandbox list`. */
  dividerLabel: string
  /** The left panel's width in pixels. */
  startWidth?: { initial: number; min: number; max: number }
  start: ReactNode
  end: ReactNode
}

/** Two panels side by side. The left one keeps its width when the window changes; the right one takes the rest. */
export function ResizablePanels({
  id,
  dividerLabel,
  startWidth = { initial: 260, min: 200, max: 420 },
  start,
  end,
}: ResizablePanelsProps) {
  const storageKey = `steward.panels.${id}`
  return (
    <Group
      orientation="horizontal"
      className="size-full"
      {...layoutKept(storageKey)}
      onLayoutChanged={(layout, { isUserInteraction }) => {
        if (isUserInteraction) localStorage.setItem(storageKey, JSON.stringify(layout))
      }}
    >
      <Panel
        id="start"
        defaultSize={startWidth.initial}
        minSize={startWidth.min}
        maxSize={startWidth.max}
        groupResizeBehavior="preserve-pixel-size"
      >
        {start}
      </Panel>
      <Separator
        aria-label={dividerLabel}
        className="relative w-px bg-line outline-none after:absolute after:inset-y-0 after:-left-1 after:w-2 data-[separator=active]:bg-accent data-[separator=focus]:bg-accent data-[separator=hover]:bg-edge"
      />
      <Panel id="end" minSize={320}>
        {end}
      </Panel>
    </Group>
  )
}

function layoutKept(storageKey: string): { defaultLayout?: Layout } {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(storageKey) ?? 'null')
    return isLayout(kept) ? { defaultLayout: kept } : {}
  } catch {
    return {} // written by something else: the initial width serves
  }
}

function isLayout(kept: unknown): kept is Layout {
  if (typeof kept !== 'object' || kept === null) return false
  const sizes = Object.entries(kept)
  return sizes.length === 2 && sizes.every(([panel, size]) => ['start', 'end'].includes(panel) && Number.isFinite(size))
}
