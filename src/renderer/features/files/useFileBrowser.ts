import { type RefObject, useRef, useState } from 'react'
import type { SandboxId } from '#shared/ids.ts'
import { copyText } from '../../ui/copyText.ts'
import type { MenuItem } from '../../ui/Menu.tsx'
import { createEntryMenu } from './entryMenu.ts'
import type { FileDialog } from './FileDialogs.tsx'
import { startDownload } from './fileLinks.ts'
import { findFreeName, getBasename, getDirname, joinPath } from './paths.ts'
import { type RelativeFile, readDropped } from './transfers/readDropped.ts'
import type { TransferQueue } from './transfers/transferQueue.ts'
import type { EntryRow, TreeKeys } from './tree/useTreeKeys.ts'
import type { FileActions } from './useFileActions.ts'
import type { FileTreeState } from './useFileTree.ts'
import type { OpenFiles } from './useOpenFiles.ts'

/** Data type of a dragged tree entry. Contains its path. */
export const dragType = 'application/x-steward-path'

type FileBrowserOptions = {
  sandboxId: SandboxId
  tree: FileTreeState
  files: OpenFiles
  queue: TransferQueue
  actions: FileActions
}

export type FileBrowserState = {
  /** Folder of the selection, used as target for new and uploaded files. */
  folder: string
  /** Path marked as cut. */
  cut: string | undefined
  keys: TreeKeys
  menu: readonly MenuItem[]
  upload(files: readonly RelativeFile[], into: string): void
  /** Moves or uploads dropped or pasted data. */
  receive(data: DataTransfer, into: string): Promise<void>
  paste(): Promise<void>
  fileInput: RefObject<HTMLInputElement | null>
  folderInput: RefObject<HTMLInputElement | null>
  chooseFiles(): void
  chooseFolder(): void
  /** Opens the dialog for a new file or folder. */
  askForName(kind: 'file' | 'folder'): void
  dialog: FileDialog | undefined
  closeDialog(): void
}

export function useFileBrowser({ sandboxId, tree, files, queue, actions }: FileBrowserOptions): FileBrowserState {
  const [dialog, setDialog] = useState<FileDialog>()
  const [clip, setClip] = useState<{ path: string; cut: boolean }>()
  const fileInput = useRef<HTMLInputElement>(null)
  const folderInput = useRef<HTMLInputElement>(null)

  const selectedRow = tree.rows.find((row) => row.kind === 'entry' && row.entry.path === tree.selected)
  const row = selectedRow?.kind === 'entry' ? selectedRow : undefined
  const folder = row ? (row.isFolder ? row.entry.path : getDirname(row.entry.path)) : tree.root

  const upload = (chosen: readonly RelativeFile[], into: string) =>
    queue.add(chosen.map(({ relativePath, file }) => ({ path: joinPath(into, relativePath), file })))
  const receive = async (data: DataTransfer, into: string): Promise<void> => {
    const moved = data.getData(dragType)
    if (moved !== '') {
      if (getDirname(moved) !== into) await actions.moveInto(moved, into)
      return
    }
    const dropped = await readDropped(data)
    if (dropped.folders.length > 0) await actions.makeFolders(dropped.folders.map((it) => joinPath(into, it)))
    upload(dropped.files, into)
  }
  const open = ({ entry, isFolder, expanded }: EntryRow) =>
    isFolder ? tree.expand(entry.path, !expanded) : files.open(entry.path)
  const paste = async (): Promise<void> => {
    if (!clip) return
    const name = getBasename(clip.path)
    const existing = tree.namesIn(folder)
    if (clip.cut) {
      if (await actions.moveInto(clip.path, folder)) setClip(undefined)
    } else await actions.copyTo(clip.path, joinPath(folder, existing.has(name) ? findFreeName(name, existing) : name))
  }
  const askForName = (kind: 'file' | 'folder') => setDialog({ kind, folder })
  const chooseFiles = () => fileInput.current?.click()
  const keys: TreeKeys = {
    open,
    expand: tree.expand,
    select: tree.setSelected,
    rename: ({ entry: { path } }: EntryRow) => setDialog({ kind: 'rename', path }),
    remove: ({ entry: { path } }: EntryRow) => setDialog({ kind: 'remove', path }),
    copy: ({ entry: { path } }: EntryRow, cut: boolean) => setClip({ path, cut }),
  }
  const menu = createEntryMenu({
    row,
    folder,
    canPaste: clip !== undefined,
    open,
    goTo: tree.go,
    download: (item) => startDownload(sandboxId, { path: item.entry.path, isFolder: item.isFolder }),
    newFile: () => askForName('file'),
    newFolder: () => askForName('folder'),
    uploadHere: chooseFiles,
    terminalHere: () => void actions.openTerminal(folder),
    copyPath: (path) => void copyText(path),
    copy: keys.copy,
    paste: () => void paste(),
    rename: keys.rename,
    remove: keys.remove,
  })

  return {
    folder,
    cut: clip?.cut ? clip.path : undefined,
    keys,
    menu,
    upload,
    receive,
    paste,
    fileInput,
    folderInput,
    chooseFiles,
    chooseFolder: () => folderInput.current?.click(),
    askForName,
    dialog,
    closeDialog: () => setDialog(undefined),
  }
}
