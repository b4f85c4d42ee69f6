import { useVirtualizer } from '@tanstack/react-virtual'
import { ChevronRight, File, FileSymlink, Folder, FolderOpen, Image } from 'lucide-react'
import { type DragEvent, type ReactElement, useEffect, useId, useRef, useState } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { ContextMenu, type MenuItem } from '#renderer/ui/Menu.tsx'
import { isImage } from '../editor/fileKind.ts'
import { formatSize, getDirname } from '../paths.ts'
import type { TreeRow } from './treeRows.ts'
import { type EntryRow, type TreeKeys, useTreeKeys } from './useTreeKeys.ts'

type FileTreeProps = {
  label: string
  root: string
  rows: readonly TreeRow[]
  selected: string | undefined
  /** Marked as about to move. */
  cut: string | undefined
  keys: TreeKeys
  menu: readonly MenuItem[]
  /** `folder` is where it fell. */
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
            if (row.kind === 'note') {
              return (
                // biome-ignore lint/a11y/useFocusableInteractive: it only tells something
                <div
                  key={`note ${row.path} ${row.text}`}
                  role="treeitem"
                  aria-level={row.depth + 1}
                  aria-disabled
                  style={{ ...place, paddingLeft: place.paddingLeft + 18 }}
                  className="absolute inset-x-0 truncate text-small leading-6 text-faint"
                >
                  {row.text}
                </div>
              )
            }
            const { entry, expanded, isFolder } = row
            return (
              // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus and tells which one is active
              // biome-ignore lint/a11y/useKeyWithClickEvents: the tree takes the keys
              <div
                key={entry.path}
                id={`${id}-${index}`}
                role="treeitem"
                aria-level={row.depth + 1}
                aria-setsize={row.size}
                aria-posinset={row.place}
                aria-selected={index === at}
                {...(isFolder && { 'aria-expanded': expanded })}
                draggable
                onDragStart={(event) => onDragStart(event.dataTransfer, row)}
                onClick={({ detail }) => {
                  keys.select(entry.path)
                  // Ignores the second click of a double click.
                  if (isFolder && detail < 2) keys.expand(entry.path, !expanded)
                }}
                onDoubleClick={() => !isFolder && keys.open(row)}
                onContextMenu={() => keys.select(entry.path)}
                {...dropOn(row)}
                title={describeEntry(row)}
                style={place}
                className={joinClassNames(
                  'absolute inset-x-0 flex cursor-default items-center gap-1.5 pr-3',
                  index === at ? 'bg-selected group-focus/tree:bg-accent-soft' : 'hover:bg-hover',
                  target === entry.path && isFolder && 'bg-accent-soft shadow-[inset_0_0_0_1px_var(--accent)]',
                  cut === entry.path && 'opacity-50',
                )}
              >
                <ChevronRight
                  aria-hidden
                  className={joinClassNames(
                    'size-3 shrink-0 text-faint transition-transform duration-100',
                    !isFolder && 'invisible',
                    expanded && 'rotate-90',
                  )}
                />
                {renderIcon(row)}
                <span className={joinClassNames('min-w-0 flex-1 truncate', entry.name.startsWith('.') && 'text-muted')}>
                  {entry.name}
                </span>
                {entry.type === 'file' && (
                  <span className="shrink-0 text-tiny text-faint tabular-nums">{formatSize(entry.size)}</span>
                )}
              </div>
            )
          })}
        </div>
      </div>
    </ContextMenu>
  )
}

function renderIcon({ entry, isFolder, expanded }: EntryRow): ReactElement {
  const look = 'size-3.5 shrink-0'
  if (entry.type === 'symlink' && !isFolder) return <FileSymlink aria-hidden className={`${look} text-faint`} />
  if (expanded) return <FolderOpen aria-hidden className={`${look} text-accent`} />
  if (isFolder) return <Folder aria-hidden className={`${look} text-accent`} />
  if (isImage(entry.name)) return <Image aria-hidden className={`${look} text-faint`} />
  return <File aria-hidden className={`${look} text-faint`} />
}

function describeEntry({ entry }: EntryRow): string {
  const link = entry.target === undefined ? '' : ` → ${entry.target}${entry.target_type === null ? ' (not there)' : ''}`
  return `${entry.path}${link}\n${new Date(entry.modified_at).toLocaleString()}`
}
