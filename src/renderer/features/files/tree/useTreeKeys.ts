import { type KeyboardEvent, useRef } from 'react'
import type { TreeRow } from './treeRows.ts'

export type EntryRow = Extract<TreeRow, { kind: 'entry' }>
export type TreeKeys = {
  open(row: EntryRow): void
  expand(path: string, expanded: boolean): void
  select(path: string): void
  rename(row: EntryRow): void
  remove(row: EntryRow): void
  copy(row: EntryRow, cut: boolean): void
}

const typingMs = 700

/**
 * Handles the keyboard of the tree as in https://www.w3.org/WAI/ARIA/apg/patterns/treeview. Pasting is handled as an
 * event, because it may contain files.
 */
export function useTreeKeys(rows: readonly TreeRow[], selected: string | undefined, keys: TreeKeys) {
  const typed = useRef({ text: '', atMs: 0 })
  const entries = rows.filter((row) => row.kind === 'entry')
  const at = entries.findIndex(({ entry }) => entry.path === selected)
  const row = entries[at]
  const go = (index: number) => {
    const next = entries[Math.max(0, Math.min(entries.length - 1, index))]
    if (next) keys.select(next.entry.path)
  }
  const find = (key: string, atMs: number) => {
    const goesOn = atMs - typed.current.atMs < typingMs
    const text = (goesOn ? typed.current.text : '') + key.toLowerCase()
    typed.current = { text, atMs }
    const from = at + (text.length > 1 ? 0 : 1)
    const order = [...entries.slice(from), ...entries.slice(0, from)]
    const match = order.find(({ entry }) => entry.name.toLowerCase().startsWith(text))
    if (match) keys.select(match.entry.path)
  }
  const left = () => {
    if (!row) return
    if (row.expanded) return keys.expand(row.entry.path, false)
    const parent = entries.slice(0, at).findLast(({ depth }) => depth < row.depth)
    if (parent) keys.select(parent.entry.path)
  }
  const right = () => {
    if (!row?.isFolder) return
    if (row.expanded) go(at + 1)
    else keys.expand(row.entry.path, true)
  }
  const plain = new Map([
    ['ArrowDown', () => go(at + 1)],
    ['ArrowUp', () => go(at === -1 ? 0 : at - 1)],
    ['Home', () => go(0)],
    ['End', () => go(entries.length - 1)],
    ['PageDown', () => go(at + 10)],
    ['PageUp', () => go(at - 10)],
    ['ArrowLeft', left],
    ['ArrowRight', right],
    ['Enter', () => row && keys.open(row)],
    ['F2', () => row && keys.rename(row)],
    ['Delete', () => row && keys.remove(row)],
  ])
  const handlers = new Map([
    ['c', () => row && keys.copy(row, false)],
    ['x', () => row && keys.copy(row, true)],
    ['Backspace', () => row && keys.remove(row)],
  ])

  return (event: KeyboardEvent): void => {
    const withControl = event.ctrlKey || event.metaKey
    const act = (withControl ? handlers : plain).get(event.key)
    if (event.altKey || (!act && (withControl || event.key.length !== 1 || event.key === ' '))) return
    event.preventDefault()
    if (act) act()
    else find(event.key, event.timeStamp)
  }
}
