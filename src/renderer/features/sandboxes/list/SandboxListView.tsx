import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, useRef } from 'react'
import type { SandboxList } from '#renderer/api/sandboxes/sandboxList.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { findDuplicates } from '../sandboxNames.ts'
import { SandboxRow, type SandboxRowActions } from './SandboxRow.tsx'

type SandboxListViewProps = {
  sandboxes: SandboxList
  selectedId: string | undefined
  actions: SandboxRowActions
  onSelect: (sandbox: Sandbox) => void
}

const rowHeight = 48
/** Number of rows above which only visible ones are rendered. */
const virtualizationThreshold = 100
const rowsBeyondView = 12

/** List of sandboxes with one tab stop. Arrow keys move between rows, Enter opens, Delete asks for confirmation. */
export function SandboxListView({ sandboxes, selectedId, actions, onSelect }: SandboxListViewProps) {
  const place = useRef<HTMLDivElement>(null)
  const virtual = sandboxes.length > virtualizationThreshold
  const virtualizer = useVirtualizer({
    count: sandboxes.length,
    enabled: virtual,
    getScrollElement: () => place.current,
    estimateSize: () => rowHeight,
    overscan: rowsBeyondView,
  })
  const namesakes = findDuplicates(sandboxes.map(({ name }) => name))
  const items = virtualizer.getVirtualItems()
  const first = virtual ? (items[0]?.index ?? 0) : 0
  const end = virtual ? (items.at(-1)?.index ?? -1) + 1 : sandboxes.length
  const drawn = sandboxes.slice(first, end)
  const stop = drawn.some(({ id }) => id === selectedId) ? selectedId : drawn[0]?.id

  const focusRow = (index: number, tries = 10) => {
    const row = place.current?.querySelector<HTMLElement>(`[data-index="${index}"] [data-row]`)
    if (row) row.focus()
    else if (tries > 0) requestAnimationFrame(() => focusRow(index, tries - 1))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // Keyboard events always target an element.
    const row = (event.target as Element).closest('[data-index]')
    const target = row && placeAfter(event.key, Number(row.getAttribute('data-index')), sandboxes.length)
    if (target === null || target < 0) return
    event.preventDefault()
    if (virtual) virtualizer.scrollToIndex(target)
    focusRow(target)
  }

  return (
    <div ref={place} className="min-h-0 flex-1 overflow-y-auto p-1.5" data-sandbox-list>
      <ul
        onKeyDown={onKeyDown}
        style={{ paddingTop: first * rowHeight, paddingBottom: (sandboxes.length - end) * rowHeight }}
      >
        {drawn.map((sandbox, index) => (
          <SandboxRow
            key={sandbox.id}
            sandbox={sandbox}
            place={{ index: first + index, count: sandboxes.length }}
            isSelected={sandbox.id === selectedId}
            isNamesake={namesakes.has(sandbox.name)}
            isTabStop={sandbox.id === stop}
            actions={actions}
            onSelect={() => onSelect(sandbox)}
          />
        ))}
      </ul>
    </div>
  )
}

function placeAfter(key: string, place: number, count: number): number {
  if (key === 'ArrowDown') return Math.min(place + 1, count - 1)
  if (key === 'ArrowUp') return Math.max(place - 1, 0)
  if (key === 'Home') return 0
  if (key === 'End') return count - 1
  return -1
}
