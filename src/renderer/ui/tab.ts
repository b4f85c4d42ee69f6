import type { ReactElement, ReactNode } from 'react'

export type Tab = {
  id: string
  label: string
  /** Content before the label, such as a `StatusDot` or an icon. */
  mark?: ReactNode
  /** Small text after the label. */
  note?: ReactNode
  /** Native tooltip. */
  title?: string
}

/** Drag and drop of tabs, to reorder them or to drop them on other targets. */
export type TabDrag = {
  /** Whether an item that can become a tab is being dragged. */
  active: boolean
  onStart(id: string, transfer: DataTransfer): void
  onEnd(): void
  /** Called with the index of the tab before which the item was dropped. */
  onDrop(place: number): void
}

export type TabRename = {
  /** Tab whose name is being edited. */
  id: string | undefined
  /** Returns the field's initial value. */
  nameOf(id: string): string
  onBegin(id: string): void
  onDone(name: string): void
  onCancel(): void
}

export type TabStripProps = {
  /** Accessible label, such as `Terminals of build-box`. */
  label: string
  tabs: readonly Tab[]
  value: string
  onChange: (id: string) => void
  /** Adds a close button to tabs. Delete closes the focused tab. */
  onClose?: (id: string) => void
  rename?: TabRename
  drag?: TabDrag
  /** Wraps a tab, for example with `ContextMenu`. The child must be `element`. */
  wrap?: (tab: Tab, element: ReactElement) => ReactElement
  /** Buttons after the tabs. */
  actions?: ReactNode
  /** Whether the strip is the header of the screen and has the height of other headers. */
  head?: boolean
  /** Content before the tabs. */
  start?: ReactNode
  /** Content at the right end of the row. */
  end?: ReactNode
}
