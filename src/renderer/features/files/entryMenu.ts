import {
  ClipboardCopy,
  ClipboardPaste,
  Copy,
  Download,
  FilePlus,
  FolderOpen,
  FolderPlus,
  FolderRoot,
  Pencil,
  Scissors,
  SquareTerminal,
  Trash2,
  Upload,
} from 'lucide-react'
import type { MenuItem } from '../../ui/Menu.tsx'
import type { EntryRow } from './tree/useTreeKeys.ts'

type EntryMenu = {
  /** Not set for the area below the rows. */
  row: EntryRow | undefined
  folder: string
  canPaste: boolean
  open: (row: EntryRow) => void
  goTo: (path: string) => void
  download: (row: EntryRow) => void
  newFile: () => void
  newFolder: () => void
  uploadHere: () => void
  terminalHere: () => void
  copyPath: (path: string) => void
  copy: (row: EntryRow, cut: boolean) => void
  paste: () => void
  rename: (row: EntryRow) => void
  remove: (row: EntryRow) => void
}

export function createEntryMenu({ row, folder, canPaste, ...does }: EntryMenu): MenuItem[] {
  const onFolder: MenuItem[] = [
    { label: 'New file…', icon: FilePlus, onSelect: does.newFile },
    { label: 'New folder…', icon: FolderPlus, onSelect: does.newFolder },
    { label: 'Upload files…', icon: Upload, onSelect: does.uploadHere },
    { label: 'Open a terminal here', icon: SquareTerminal, onSelect: does.terminalHere },
    { label: 'Paste', icon: ClipboardPaste, shortcut: 'mod+v', disabled: !canPaste, onSelect: does.paste },
  ]
  if (!row) return [...onFolder, { label: 'Copy path', icon: ClipboardCopy, onSelect: () => does.copyPath(folder) }]
  const { entry, isFolder } = row
  return [
    { label: 'Open', icon: FolderOpen, shortcut: 'enter', onSelect: () => does.open(row) },
    ...(isFolder
      ? [{ label: 'Show only this folder', icon: FolderRoot, onSelect: () => does.goTo(entry.path) } as const]
      : []),
    { label: isFolder ? 'Download as tar.gz' : 'Download', icon: Download, onSelect: () => does.download(row) },
    'separator',
    { label: 'Cut', icon: Scissors, shortcut: 'mod+x', onSelect: () => does.copy(row, true) },
    { label: 'Copy', icon: Copy, shortcut: 'mod+c', onSelect: () => does.copy(row, false) },
    { label: 'Copy path', icon: ClipboardCopy, onSelect: () => does.copyPath(entry.path) },
    { label: 'Rename…', icon: Pencil, shortcut: 'f2', onSelect: () => does.rename(row) },
    { label: 'Delete…', icon: Trash2, shortcut: 'delete', tone: 'danger', onSelect: () => does.remove(row) },
    'separator',
    ...onFolder,
  ]
}
