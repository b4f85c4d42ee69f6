import { type KeyboardEvent, useRef } from 'react'
import type { Sandbox } from '../../../../shared/contract/sandboxes.ts'
import { SandboxRow, type SandboxRowActions } from './SandboxRow.tsx'
import type { SandboxList } from './sandboxList.ts'

type SandboxListViewProps = {
  sandboxes: SandboxList
  selectedId: string | undefined
  actions: SandboxRowActions
  onSelect: (sandbox: Sandbox) => void
}

/** One stop for Tab: the arrows go from row to row, Enter opens, Delete asks. */
export function SandboxListView({ sandboxes, selectedId, actions, onSelect }: SandboxListViewProps) {
  const list = useRef<HTMLUListElement>(null)
  const stop = sandboxes.some(({ id }) => id === selectedId) ? selectedId : sandboxes[0]?.id

  const onKeyDown = (event: KeyboardEvent) => {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])]
    const place = rows.findIndex((row) => row.contains(event.target as Node)) // a key's target is a node of the page
    const target = rows[placeAfter(event.key, place, rows.length)]
    if (place < 0 || !target) return
    event.preventDefault()
    target.focus()
  }

  return (
    <ul ref={list} onKeyDown={onKeyDown} className="min-h-0 flex-1 overflow-y-auto p-1.5" data-sandbox-list>
      {sandboxes.map((sandbox) => (
        <SandboxRow
          key={sandbox.id}
          sandbox={sandbox}
          isSelected={sandbox.id === selectedId}
          isTabStop={sandbox.id === stop}
          actions={actions}
          onSelect={() => onSelect(sandbox)}
        />
      ))}
    </ul>
  )
}

function placeAfter(key: string, place: number, count: number): number {
  if (key === 'ArrowDown') return Math.min(place + 1, count - 1)
  if (key === 'ArrowUp') return Math.max(place - 1, 0)
  if (key === 'Home') return 0
  if (key === 'End') return count - 1
  return -1
}
