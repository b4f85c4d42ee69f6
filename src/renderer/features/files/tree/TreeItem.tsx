import { ChevronRight, File, FileSymlink, Folder, FolderOpen, Image } from 'lucide-react'
import type { CSSProperties, DragEventHandler, ReactElement } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { isImage } from '../editor/fileKind.ts'
import { formatSize } from '../paths.ts'
import type { TreeRow } from './treeRows.ts'
import type { EntryRow, TreeKeys } from './useTreeKeys.ts'

type ItemStyle = CSSProperties & { paddingLeft: number }

type TextItemProps = { row: Extract<TreeRow, { kind: 'note' }>; style: ItemStyle }

export function TextItem({ row, style }: TextItemProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: a status row, without interaction
    <div
      role="treeitem"
      aria-level={row.depth + 1}
      aria-disabled
      style={{ ...style, paddingLeft: style.paddingLeft + 18 }}
      className="absolute inset-x-0 truncate text-small leading-6 text-faint"
    >
      {row.text}
    </div>
  )
}

type EntryItemProps = {
  id: string
  row: EntryRow
  style: ItemStyle
  isSelected: boolean
  /** Whether the entry is marked as cut. */
  isCut: boolean
  isDropTarget: boolean
  keys: TreeKeys
  onDragStart: (data: DataTransfer) => void
  drop: Record<'onDragOver' | 'onDrop', DragEventHandler>
}

export function EntryItem({
  id,
  row,
  style,
  isSelected,
  isCut,
  isDropTarget,
  keys,
  onDragStart,
  drop,
}: EntryItemProps) {
  const { entry, expanded, isFolder } = row
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has focus and marks the active item
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles keys
    <div
      id={id}
      role="treeitem"
      aria-level={row.depth + 1}
      aria-setsize={row.size}
      aria-posinset={row.place}
      aria-selected={isSelected}
      {...(isFolder && { 'aria-expanded': expanded })}
      draggable
      onDragStart={(event) => onDragStart(event.dataTransfer)}
      onClick={({ detail }) => {
        keys.select(entry.path)
        // Ignores the second click of a double click.
        if (isFolder && detail < 2) keys.expand(entry.path, !expanded)
      }}
      onDoubleClick={() => !isFolder && keys.open(row)}
      onContextMenu={() => keys.select(entry.path)}
      {...drop}
      title={describeEntry(row)}
      style={style}
      className={joinClassNames(
        'absolute inset-x-0 flex cursor-default items-center gap-1.5 pr-3',
        isSelected ? 'bg-selected group-focus/tree:bg-accent-soft' : 'hover:bg-hover',
        isDropTarget && 'bg-accent-soft shadow-[inset_0_0_0_1px_var(--accent)]',
        isCut && 'opacity-50',
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
  const link =
    entry.target === undefined ? '' : ` → ${entry.target}${entry.target_type === null ? ' (broken link)' : ''}`
  return `${entry.path}${link}\n${new Date(entry.modified_at).toLocaleString()}`
}
