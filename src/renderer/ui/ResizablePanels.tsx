import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { Group, Panel, type PanelImperativeHandle, Separator, usePanelRef } from 'react-resizable-panels'
import { classNames } from './classNames.ts'
import { keepWidth, keptWidth, type PanelWidth } from './panelWidths.ts'

type SizedPanel = {
  content: ReactNode
  /** What the divider sizes, read aloud: `Width of the sandbox list`. */
  dividerLabel: string
  width: PanelWidth
}

type ResizablePanelsProps = {
  /** Under this name the widths are kept for the next time. */
  id: string
  start: SizedPanel
  /** Takes the room that the others leave. */
  middle: ReactNode
  /** At the right; folded away by its owner, or by dragging its divider to the edge. */
  end?: FoldingPanel | undefined
}

type FoldingPanel = SizedPanel & { open: boolean; onOpenChange: (open: boolean) => void }

const middleMinWidth = 320

/** Panels side by side. Those at the sides keep their width in pixels when the window changes. */
export function ResizablePanels({ id, start, middle, end }: ResizablePanelsProps) {
  const startPanel = usePanelRef()
  const endPanel = usePanelRef()
  const [startWidth] = useState(() => keptWidth(`${id}.start`, start.width))

  const keep = () => {
    const [startPixels, endPixels] = [startPanel, endPanel].map((panel) => panel.current?.getSize().inPixels ?? 0)
    if (startPixels) keepWidth(`${id}.start`, startPixels)
    if (!end) return
    if (endPixels) keepWidth(`${id}.end`, endPixels)
    if (end.open !== Boolean(endPixels)) end.onOpenChange(!end.open)
  }
  return (
    <Group
      orientation="horizontal"
      className="size-full"
      onLayoutChanged={(_, { isUserInteraction }) => isUserInteraction && keep()}
    >
      <Panel
        id="start"
        panelRef={startPanel}
        defaultSize={startWidth}
        minSize={start.width.min}
        maxSize={start.width.max}
        groupResizeBehavior="preserve-pixel-size"
      >
        {start.content}
      </Panel>
      <Divider label={start.dividerLabel} />
      <Panel id="middle" minSize={middleMinWidth}>
        {middle}
      </Panel>
      {end && <EndPanel {...end} id={`${id}.end`} panel={endPanel} />}
    </Group>
  )
}

type EndPanelProps = FoldingPanel & { id: string; panel: RefObject<PanelImperativeHandle | null> }

function EndPanel({ id, panel, content, dividerLabel, width, open }: EndPanelProps) {
  const { min, max } = width
  const [initial] = useState(() => (open ? keptWidth(id, width) : 0))
  const applied = useRef(open)

  useEffect(() => {
    if (applied.current === open) return
    applied.current = open
    if (panel.current?.isCollapsed() !== open) return
    if (open) panel.current.resize(keptWidth(id, width))
    else panel.current.collapse()
  }, [panel, open, id, width])

  return (
    <>
      <Divider label={dividerLabel} folded={!open} />
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
      aria-label={label}
      disabled={folded}
      className={classNames(
        'relative w-px outline-none data-[separator=active]:bg-accent data-[separator=focus]:bg-accent',
        folded ? 'invisible' : 'bg-line data-[separator=hover]:bg-edge',
        'after:absolute after:inset-y-0 after:-left-1 after:w-2',
      )}
    />
  )
}
