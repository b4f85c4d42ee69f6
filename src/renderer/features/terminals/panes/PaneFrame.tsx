import { Maximize2, Minimize2, Radio, X } from 'lucide-react'
import { type ReactElement, type ReactNode, useLayoutEffect, useRef } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { zoomKeys } from '#renderer/ui/commands/terminalSafeKeys.ts'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import type { Side } from '../layout/paneTree.ts'
import { DropZone } from './DropZone.tsx'

type PaneFrameProps = {
  label: string
  mark: ReactNode
  host: HTMLElement
  /** Header of the pane. Not set for the only pane of a tab, because the tab shows the same information. */
  header: PaneHeader | undefined
  /** Drop handler, set while an item that this pane accepts is being dragged. */
  onDrop: ((side: Side) => void) | undefined
}

export type PaneHeader = {
  active: boolean
  zoomed: boolean
  /** Broadcast of input to several panes of the tab. */
  broadcast: { receives: boolean; onToggle(): void } | undefined
  onZoom(): void
  onClose(): void
  onDragStart(transfer: DataTransfer): void
  onDragEnd(): void
  wrap(element: ReactElement): ReactElement
}

export function PaneFrame({ label, mark, host, header, onDrop }: PaneFrameProps) {
  const receives = header?.broadcast?.receives ?? false
  return (
    <section
      aria-label={label}
      data-pane={label}
      data-receives={receives || undefined}
      className="flex size-full flex-col"
    >
      {header && <Header label={label} mark={mark} {...header} />}
      <div className="relative min-h-0 flex-1">
        <PaneSlot host={host} />
        {receives && <div aria-hidden className="pointer-events-none absolute inset-0 z-10 border-2 border-caution" />}
        {onDrop && <DropZone onDrop={onDrop} />}
      </div>
    </section>
  )
}

function Header({
  label,
  mark,
  active,
  zoomed,
  broadcast,
  wrap,
  ...on
}: PaneHeader & Pick<PaneFrameProps, 'label' | 'mark'>) {
  return wrap(
    // biome-ignore lint/a11y/noStaticElementInteractions: pointer only; buttons, the palette and shortcuts do the same
    <header
      draggable
      onDragStart={({ dataTransfer }) => on.onDragStart(dataTransfer)}
      onDragEnd={on.onDragEnd}
      onDoubleClick={on.onZoom}
      className={joinClassNames(
        'relative flex h-7 shrink-0 items-center gap-2 border-b border-line pr-1 pl-3 text-small',
        broadcast?.receives ? 'bg-caution-soft text-text' : active ? 'bg-canvas text-text' : 'bg-panel text-muted',
        active && 'before:absolute before:inset-x-0 before:top-0 before:h-0.5 before:bg-accent',
      )}
    >
      {mark}
      <span className="min-w-0 flex-1 truncate">{label}</span>
      {broadcast && (
        <IconButton
          label={broadcast.receives ? 'Stop broadcasting to this terminal' : 'Broadcast to this terminal'}
          icon={Radio}
          size="small"
          aria-pressed={broadcast.receives}
          className={broadcast.receives ? 'text-caution' : ''}
          onClick={broadcast.onToggle}
        />
      )}
      <IconButton
        label={zoomed ? 'Show all terminals in this tab' : 'Maximize this terminal'}
        icon={zoomed ? Minimize2 : Maximize2}
        size="small"
        shortcut={active ? zoomKeys : undefined}
        onClick={on.onZoom}
      />
      <IconButton label="Close this terminal" icon={X} size="small" onClick={on.onClose} />
    </header>,
  )
}

/**
 * Position of a terminal in the layout. The terminal is rendered in the `host` element, which is moved between slots.
 */
function PaneSlot({ host }: { host: HTMLElement }) {
  const slot = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (host.parentElement !== slot.current) slot.current?.append(host)
  })
  return <div ref={slot} className="absolute inset-0" />
}
