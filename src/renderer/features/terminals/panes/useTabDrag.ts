import { useState } from 'react'
import type { TabDrag } from '#renderer/ui/tab.ts'
import { listPaneIds, type Side } from '../layout/paneTree.ts'
import {
  findTab,
  type Layout,
  withSplitTerminal,
  withTabMerged,
  withTabMoved,
  withTerminalAsTab,
} from '../layout/tabLayout.ts'

type Dragged = { kind: 'tab' | 'pane'; id: string }

/** Distinguishes dragged terminals from files and text. */
const transferType = 'application/x-steward-terminal'

export type TabDragState = {
  strip: TabDrag
  startPane(terminalId: string, transfer: DataTransfer): void
  end(): void
  /** Returns the drop handler of a pane. @returns undefined unless a suitable item is being dragged */
  targetOf(terminalId: string): ((side: Side) => void) | undefined
}

type TabDragOptions = {
  layout: Layout
  arrange: (change: (layout: Layout) => Layout) => void
  /** Called with the terminal to show. */
  onMoved: (terminalId: string) => void
}

/**
 * Drag and drop of tabs and panes. Tabs can be reordered or moved into another tab; panes can be moved to another side
 * or out of their tab.
 */
export function useTabDrag({ layout, arrange, onMoved }: TabDragOptions): TabDragState {
  const [dragged, setDragged] = useState<Dragged>()
  const start = (next: Dragged, transfer: DataTransfer) => {
    transfer.setData(transferType, next.id)
    transfer.effectAllowed = 'move'
    // Chromium cancels a drag if the DOM under the pointer changes during `dragstart`.
    setTimeout(() => setDragged(next))
  }
  const findActive = (item: Dragged) =>
    item.kind === 'pane' ? item.id : layout.find(({ id }) => id === item.id)?.active
  const finish = (change: (layout: Layout) => Layout) => {
    const moved = dragged && findActive(dragged)
    setDragged(undefined)
    arrange(change)
    if (moved !== undefined) onMoved(moved)
  }

  return {
    strip: {
      active: dragged !== undefined,
      onStart: (id, transfer) => start({ kind: 'tab', id }, transfer),
      onEnd: () => setDragged(undefined),
      onDrop(place) {
        if (!dragged) return
        const { kind, id } = dragged
        finish((before) => (kind === 'tab' ? withTabMoved(before, id, place) : withTerminalAsTab(before, id, place)))
      },
    },
    startPane: (id, transfer) => start({ kind: 'pane', id }, transfer),
    end: () => setDragged(undefined),
    targetOf(terminalId) {
      if (!dragged) return undefined
      const { kind, id } = dragged
      const own =
        kind === 'pane' ? [id] : listPaneIds(layout.find((tab) => tab.id === id)?.tree ?? { kind: 'pane', id: '' })
      if (own.includes(terminalId) || !findTab(layout, terminalId)) return undefined
      return (side) =>
        finish((before) =>
          kind === 'tab'
            ? withTabMerged(before, id, { at: terminalId, side })
            : withSplitTerminal(before, id, { at: terminalId, side }),
        )
    },
  }
}
