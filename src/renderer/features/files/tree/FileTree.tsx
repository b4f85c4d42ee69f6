import { useVirtualizer } from '@tanstack/react-virtual'
import { type DragEvent, useEffect, useId, useRef, useState } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { ContextMenu, type MenuItem } from '#renderer/ui/Menu.tsx'
import { getDirname } from '../paths.ts'
import { EntryItem, TextItem } from './TreeItem.tsx'
import type { TreeRow } from './treeRows.ts'
import { type EntryRow, type TreeKeys, useTreeKeys } from './useTreeKeys.ts'

type FileTreeProps = {
  label: string
  root: string
  rows: readonly TreeRow[]
  selected: string | undefined
  /** Path marked as cut. */
  cut: string | undefined
  keys: TreeKeys
  menu: readonly MenuItem[]
  /** `folder` is the drop target. */
  onDrop: (data: DataTransfer, folder: string) => void
  onDragStart: (data: DataTransfer, row: EntryRow) => void
}

const rowHeight = 24
const indent = 14

export function FileTree({ label, root, rows, selected, cut, keys, menu, onDrop, onDragStart }: FileTreeProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const id = useId()
  const [target, setTarget] = useState<string>()
  const onKeyDown = useTreeKeys(rows, selected, keys)
  const at = rows.findIndex((row) => row.kind === 'entry' && row.entry.path === selected)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  })
  useEffect(() => {
    if (at !== -1) virtual.scrollToIndex(at)
  }, [at, virtual])

  const folderUnder = (row: TreeRow | undefined): string => {
    if (!row) return root
    if (row.kind === 'note') return row.path
    return row.isFolder ? row.entry.path : getDirname(row.entry.path)
  }
  const dropOn = (row: TreeRow | undefined) => ({
    onDragOver: (event: DragEvent) => {
      event.preventDefault()
      event.stopPropagation()
      setTarget(folderUnder(row))
    },
    onDrop: (event: DragEvent) => {
      event.preventDefault()
      event.stopPropagation()
      setTarget(undefined)
      onDrop(event.dataTransfer, folderUnder(row))
    },
  })

  return (
    <ContextMenu items={menu}>
      <div
        ref={scroller}
        role="tree"
        aria-label={label}
        tabIndex={0}
        {...(at !== -1 && { 'aria-activedescendant': `${id}-${at}` })}
        onKeyDown={onKeyDown}
        onDragLeave={() => setTarget(undefined)}
        {...dropOn(undefined)}
        className={joinClassNames(
          'group/tree size-full overflow-auto py-1 outline-none select-none',
          'focus-visible:shadow-[inset_0_0_0_1px_var(--accent)]',
          target === root && 'bg-accent-soft',
        )}
      >
        <div role="presentation" className="relative w-full" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index]
            if (!row) return null
            const place = { top: start, height: rowHeight, paddingLeft: 8 + row.depth * indent }
            if (row.kind === 'note') return <TextItem key={`note ${row.path} ${row.text}`} row={row} style={place} />
            const { path } = row.entry
            return (
              <EntryItem
                key={path}
                id={`${id}-${index}`}
                row={row}
                style={place}
                isSelected={index === at}
                isCut={cut === path}
                isDropTarget={target === path && row.isFolder}
                keys={keys}
                onDragStart={(data) => onDragStart(data, row)}
                drop={dropOn(row)}
              />
            )
          })}
        </div>
      </div>
    </ContextMenu>
  )
}
