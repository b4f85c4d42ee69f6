import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { Group, type Layout, Panel, type PanelImperativeHandle, Separator, usePanelRef } from 'react-resizable-panels'
import { joinClassNames } from '../classNames.ts'
import { EndDrawer, ListDrawer } from './Drawer.tsx'
import { type PanelWidth, readWidth, storeWidth } from './panelWidths.ts'
import type { PanelRoom } from './usePanelRoom.ts'

type SizedPanel = {
  /** Key under which the width is stored. */
  id: string
  content: ReactNode
  /** Short label of the panel, also used for its divider. */
  label: string
  width: PanelWidth
}

export type FoldingPanel = SizedPanel & { open: boolean; onOpenChange: (open: boolean) => void }

type ResizablePanelsProps = {
  room: PanelRoom
  /** List at the left. `open` applies only if it does not fit beside the content; otherwise it is always visible. */
  start?: FoldingPanel | undefined
  /** Content that fills the remaining space. */
  middle: ReactNode
  /** Panel at the right. Closed by its owner, or by dragging its divider to the edge. */
  end?: FoldingPanel | undefined
}

const middleMinWidth = 320

/**
 * Panels side by side. Side panels keep their width in pixels when the window is resized. If they do not fit, they
 * overlay the middle.
 */
export function ResizablePanels({ room, start, middle, end }: ResizablePanelsProps) {
  const { place, listFolds, endFloats } = room
  const endPanel = usePanelRef()
  // One element while the screen is mounted, so that edits in the panel survive a change of the layout.
  const [host] = useState(createMovableHost)

  // Uses the new layout, because after a key press the panels still have their previous size.
  const keep = (layout: Layout) => {
    const dividers = Object.keys(layout).length - 1
    const measurePixels = (id: string) => ((layout[id] ?? 0) / 100) * ((place.current?.clientWidth ?? 0) - dividers)
    const [startPixels, endPixels] = [measurePixels('start'), measurePixels('end')]
    if (startPixels && start) storeWidth(start.id, startPixels)
    if (!end || endFloats) return
    if (endPixels) storeWidth(end.id, endPixels)
    if (end.open !== Boolean(endPixels)) end.onOpenChange(!end.open)
  }
  return (
    <div ref={place} className="relative size-full">
      <Group
        orientation="horizontal"
        className="size-full"
        onLayoutChanged={(layout, { isUserInteraction }) => isUserInteraction && keep(layout)}
      >
        {start && !listFolds && (
          <Panel
            key="start"
            id="start"
            defaultSize={readWidth(start.id, start.width)}
            minSize={start.width.min}
            maxSize={start.width.max}
            groupResizeBehavior="preserve-pixel-size"
          >
            {start.content}
          </Panel>
        )}
        {start && !listFolds && <Divider key="start divider" label={start.label} />}
        <Panel key="middle" id="middle" minSize={middleMinWidth}>
          {middle}
        </Panel>
        {end && !endFloats && <EndPanel key="end" {...end} content={<Hosted host={host} />} panel={endPanel} />}
      </Group>
      {start && listFolds && (
        <ListDrawer width={start.width.initial} open={start.open} onClose={() => start.onOpenChange(false)}>
          {start.content}
        </ListDrawer>
      )}
      {end && endFloats && (
        <EndDrawer width={end.width.initial} open={end.open}>
          <Hosted host={host} />
        </EndDrawer>
      )}
      {end && createPortal(end.content, host.element)}
    </div>
  )
}

type MovableHost = { element: HTMLElement; moveTo(place: HTMLElement): void }

/** Creates an element that can be moved in the DOM while its content preserves state and focus. */
function createMovableHost(): MovableHost {
  const element = document.createElement('div')
  element.className = 'size-full'
  let focused: HTMLElement | undefined
  element.addEventListener('focusin', ({ target }) => {
    focused = target instanceof HTMLElement ? target : undefined
  })
  return {
    element,
    moveTo(place) {
      const before = focused
      focused = undefined
      place.append(element)
      if (document.activeElement === document.body) before?.focus()
    },
  }
}

function Hosted({ host }: { host: MovableHost }) {
  const place = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (place.current) host.moveTo(place.current)
  }, [host])
  return <div ref={place} className="size-full" />
}

type EndPanelProps = FoldingPanel & { panel: RefObject<PanelImperativeHandle | null> }

function EndPanel({ id, panel, content, label, width, open }: EndPanelProps) {
  const { min, max } = width
  const [initial] = useState(() => (open ? readWidth(id, width) : 0))
  const applied = useRef(open)

  useEffect(() => {
    if (applied.current === open) return
    applied.current = open
    if (panel.current?.isCollapsed() !== open) return
    if (open) panel.current.resize(readWidth(id, width))
    else panel.current.collapse()
  }, [panel, open, id, width])

  return (
    <>
      <Divider label={label} folded={!open} />
      <Panel
        id="end"
        panelRef={panel}
        collapsible
        defaultSize={initial}
        minSize={min}
        maxSize={max}
        groupResizeBehavior="preserve-pixel-size"
        inert={!open}
        className={open ? '' : 'invisible'}
      >
        {content}
      </Panel>
    </>
  )
}

function Divider({ label, folded = false }: { label: string; folded?: boolean }) {
  return (
    <Separator
      aria-label={`Width: ${label}`}
      disabled={folded}
      className={joinClassNames(
        'relative w-px outline-none data-[separator=active]:bg-accent data-[separator=focus]:bg-accent',
        folded ? 'invisible' : 'bg-line data-[separator=hover]:bg-edge',
        'after:absolute after:inset-y-0 after:-left-1 after:w-2',
      )}
    />
  )
}
