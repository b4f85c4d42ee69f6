import type { FileEntry } from '#shared/contract/files.ts'

export type SortBy = 'name' | 'size' | 'modified'
export type TreeRow =
  | {
      kind: 'entry'
      entry: FileEntry
      depth: number
      isFolder: boolean
      expanded: boolean
      size: number
      place: number
    }
  | { kind: 'note'; path: string; depth: number; text: string }

export type FolderReading = { entries?: readonly FileEntry[]; truncated?: boolean; failure?: string }

type TreeView = {
  root: string
  expanded: ReadonlySet<string>
  hidden: boolean
  sortBy: SortBy
  reading: (path: string) => FolderReading | undefined
}

/** Returns the loaded rows of the tree in display order. */
export function buildTreeRows(view: TreeView): TreeRow[] {
  const rows: TreeRow[] = []
  const add = (folder: string, depth: number): void => {
    const { entries, truncated = false, failure } = view.reading(folder) ?? {}
    const note = (text: string) => rows.push({ kind: 'note', path: folder, depth, text })
    if (!entries) {
      note(failure ?? 'Loading…')
      return
    }
    const visible = entries.filter(({ name }) => view.hidden || !name.startsWith('.')).toSorted(orderBy(view.sortBy))
    for (const [index, entry] of visible.entries()) {
      const isFolder = isFolderEntry(entry)
      const expanded = isFolder && view.expanded.has(entry.path)
      rows.push({ kind: 'entry', entry, depth, isFolder, expanded, size: visible.length, place: index + 1 })
      if (expanded) add(entry.path, depth + 1)
    }
    if (visible.length === 0) note('Empty folder')
    if (truncated) note('Too many files to list them all')
  }
  add(view.root, 0)
  return rows
}

/** Whether an entry can be expanded, including links to folders. */
export function isFolderEntry({ type, target_type }: FileEntry): boolean {
  return type === 'directory' || target_type === 'directory'
}

function orderBy(sortBy: SortBy): (a: FileEntry, b: FileEntry) => number {
  const byName = (a: FileEntry, b: FileEntry) =>
    a.name.localeCompare(b.name, undefined, { numeric: true, sensitivity: 'base' })
  return (a, b) => {
    const folders = Number(isFolderEntry(b)) - Number(isFolderEntry(a))
    if (folders !== 0) return folders
    if (sortBy === 'size') return b.size - a.size || byName(a, b)
    if (sortBy === 'modified') return b.modified_at.localeCompare(a.modified_at) || byName(a, b)
    return byName(a, b)
  }
}
