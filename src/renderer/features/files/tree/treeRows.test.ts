import { expect, test } from 'vitest'
import type { FileEntry } from '#shared/contract/files.ts'
import { buildTreeRows, type SortBy } from './treeRows.ts'

const entry = (path: string, more: Partial<FileEntry> = {}): FileEntry => ({
  name: path.slice(path.lastIndexOf('/') + 1),
  path,
  type: 'file',
  size: 1,
  modified_at: '2026-01-01T00:00:00.000Z' as FileEntry['modified_at'],
  ...more,
})
const folders: Record<string, FileEntry[]> = {
  '/': [
    entry('/a10'),
    entry('/a2', { size: 9 }),
    entry('/.dot'),
    entry('/z', { type: 'directory' }),
    entry('/link', { type: 'symlink', target: 'z', target_type: 'directory' }),
  ],
  '/z': [entry('/z/inside')],
}
const listNames = (view: { expanded?: string[]; hidden?: boolean; sortBy?: SortBy } = {}) =>
  buildTreeRows({
    root: '/',
    expanded: new Set(view.expanded),
    hidden: view.hidden ?? false,
    sortBy: view.sortBy ?? 'name',
    reading: (path) => (folders[path] ? { entries: folders[path] } : undefined),
  }).map((row) => `${'  '.repeat(row.depth)}${row.kind === 'entry' ? row.entry.name : `(${row.text})`}`)

test('lists folders first and sorts names in natural order', () =>
  expect(listNames()).toEqual(['link', 'z', 'a2', 'a10']))
test('shows hidden files on request', () => expect(listNames({ hidden: true })).toContain('.dot'))
test('sorts by size in descending order on request', () =>
  expect(listNames({ sortBy: 'size' })).toEqual(['link', 'z', 'a2', 'a10']))
test('shows the entries of an open folder or a loading row', () => {
  expect(listNames({ expanded: ['/z', '/link'] })).toEqual(['link', '  (Loading…)', 'z', '  inside', 'a2', 'a10'])
})
