import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react'
import { joinClassNames } from '../classNames.ts'

type DrawerProps = {
  /** Width in pixels, limited by the available space. */
  width: number
  open: boolean
  children: ReactNode
}

/** Drawer at the right edge that overlays the content in windows too narrow for a panel. Stays mounted while closed. */
export function EndDrawer({ width, open, children }: DrawerProps) {
  return (
    <div inert={!open} className={joinClassNames('pointer-events-none absolute inset-0 z-20', !open && 'invisible')}>
      <div
        // Leaves the header below visible, because its button closes the drawer. Screens with a header above set
        // `--drawer-top`.
        className="pointer-events-auto absolute top-[var(--drawer-top,2.75rem)] right-0 bottom-0 max-w-[calc(100%-3rem)] border-t border-line bg-canvas shadow-dialog"
        style={{ width }}
      >
        {children}
      </div>
    </div>
  )
}

type ListDrawerProps = DrawerProps & { onClose: () => void }

/** Drawer at the left edge that overlays all content and contains a list to select from. */
export function ListDrawer({ width, open, onClose, children }: ListDrawerProps) {
  return open ? (
    <div className="absolute inset-0 z-20">
      <div aria-hidden onClick={onClose} className="animate-fade absolute inset-0 bg-overlay" />
      <OpenList width={width} onClose={onClose}>
        {children}
      </OpenList>
    </div>
  ) : null
}

function OpenList({ width, onClose, children }: Omit<ListDrawerProps, 'open'>) {
  const panel = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const row = panel.current?.querySelector<HTMLElement>('[aria-current], [data-row][tabindex="0"], a, button')
    row?.focus()
  }, [])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return
    event.preventDefault()
    onClose()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the drawer from any focused descendant
    <div
      ref={panel}
      onKeyDown={onKeyDown}
      className="absolute inset-y-0 left-0 max-w-[calc(100%-3rem)] bg-panel shadow-dialog"
      style={{ width }}
    >
      {children}
    </div>
  )
}
