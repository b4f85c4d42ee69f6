import type { ReactElement, ReactNode } from 'react'

export type Tab = {
  id: string
  label: string
  /** Before the label; `StatusDot` or an icon. */
  mark?: ReactNode
  /** After the label, in small type. */
  note?: ReactNode
  /** Shown by the browser when the pointer rests on it. */
  title?: string
}

/** Tabs can be dragged to another place, and to wherever else takes them. */
export type TabDrag = {
  /** Whether something that can become a tab is being dragged. */
  active: boolean
  onStart(id: string, transfer: DataTransfer): void
  onEnd(): void
  /** `place`: before which of the tabs. */
  onDrop(place: number): void
}

export type TabRename = {
  /** The tab whose name is being written. */
  id: string | undefined
  /** Returns the field's initial value. */
  nameOf(id: string): string
  onBegin(id: string): void
  onDone(name: string): void
  onCancel(): void
}

export type TabStripProps = {
  /** Accessible label: `Terminals of build-box`. */
  label: string
  tabs: readonly Tab[]
  value: string
  onChange: (id: string) => void
  /** Adds a close button to tabs; Delete closes the focused one. */
  onClose?: (id: string) => void
  rename?: TabRename
  drag?: TabDrag
  /** Wraps a tab, for instance with `ContextMenu`. The child must be the element given. */
  wrap?: (tab: Tab, element: ReactElement) => ReactElement
  /** Right of the tabs. */
  actions?: ReactNode
  /** Whether it is the header of the screen, as high as all others. */
  head?: boolean
  /** Left of the tabs. */
  start?: ReactNode
  /** At the right end of the row. */
  end?: ReactNode
}
