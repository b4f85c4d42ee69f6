import { Eye, EyeOff, FilePlus, FolderPlus, FolderUp, ListFilter, Power, RotateCw, Upload } from 'lucide-react'
import { type ClipboardEvent, useEffect, useEffectEvent, useRef, useState } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { copyText } from '../../ui/copyText.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { IconButton } from '../../ui/IconButton.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { notify } from '../../ui/toast.tsx'
import type { PlaceInText } from './editor/codeEditor.ts'
import { openDrafts } from './editor/drafts.ts'
import { createEntryMenu } from './entryMenu.ts'
import { downloadName, downloadUrl, startDownload } from './fileLinks.ts'
import { NameDialog } from './NameDialog.tsx'
import { OpenFilesView } from './OpenFilesView.tsx'
import { PathBar } from './PathBar.tsx'
import { freeName, getBasename, getDirname, joinPath } from './paths.ts'
import { ConflictDialog } from './transfers/ConflictDialog.tsx'
import { listChosenFiles, type RelativeFile, readDropped } from './transfers/readDropped.ts'
import { TransferTray } from './transfers/TransferTray.tsx'
import { useTransfers } from './transfers/useTransfers.ts'
import { FileTree } from './tree/FileTree.tsx'
import type { SortBy } from './tree/treeRows.ts'
import type { EntryRow } from './tree/useTreeKeys.ts'
import { useFileActions } from './useFileActions.ts'
import { useFileTree } from './useFileTree.ts'
import { useOpenFiles } from './useOpenFiles.ts'

type Asking = { kind: 'file' | 'folder'; folder: string } | { kind: 'rename' | 'remove'; path: string }

const dragType = 'application/x-steward-path'
const sorts: readonly [SortBy, string][] = [
  ['name', 'By name'],
  ['size', 'Largest first'],
  ['modified', 'Newest first'],
]

type SandboxFilesProps = {
  sandbox: Sandbox
  visible: boolean
  /** A file to open, or a folder: another object each time it is asked for. */
  asked?: { path: string; isFolder?: boolean; at?: PlaceInText | undefined } | undefined
}

/** Files of a sandbox: tree, open files and transfers. */
export function SandboxFiles({ sandbox, visible, asked }: SandboxFilesProps) {
  const { id } = sandbox
  const running = sandbox.status === 'running'
  const tree = useFileTree(id, running && visible)
  const actions = useFileActions(id)
  const [stored] = useState(() => openDrafts(id))
  const files = useOpenFiles(stored)
  const openRequested = useEffectEvent(() => {
    if (asked?.isFolder) tree.go(asked.path)
    else if (asked) files.open(asked.path, asked.at)
  })
  useEffect(() => {
    if (asked) openRequested()
  }, [asked])
  const { queue, transfers } = useTransfers(id)
  const [asking, setAsking] = useState<Asking>()
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
    } else await actions.copyTo(clip.path, joinPath(folder, existing.has(name) ? freeName(name, existing) : name))
  }
  const onPaste = (event: ClipboardEvent) => {
    if (!(event.target instanceof Element && event.target.closest('[role="tree"]'))) return
    if (event.clipboardData.files.length > 0) void receive(event.clipboardData, folder)
    else void paste()
  }
  const conflicts = transfers.filter(({ state }) => state === 'asking')
  const [conflict] = conflicts

  const keys = {
    open,
    expand: tree.expand,
    select: tree.setSelected,
    rename: ({ entry: { path } }: EntryRow) => setAsking({ kind: 'rename', path }),
    remove: ({ entry: { path } }: EntryRow) => setAsking({ kind: 'remove', path }),
    copy: ({ entry: { path } }: EntryRow, cut: boolean) => setClip({ path, cut }),
  }
  const menu = createEntryMenu({
    row,
    folder,
    canPaste: clip !== undefined,
    open,
    goTo: tree.go,
    download: (it) => startDownload(id, { path: it.entry.path, isFolder: it.isFolder }),
    newFile: () => setAsking({ kind: 'file', folder }),
    newFolder: () => setAsking({ kind: 'folder', folder }),
    uploadHere: () => fileInput.current?.click(),
    terminalHere: () => void actions.openTerminal(folder),
    copyPath: (path) => void copyText(path),
    copy: keys.copy,
    paste: () => void paste(),
    rename: keys.rename,
    remove: keys.remove,
  })

  const browser = (
    <>
      <div className="flex h-9 shrink-0 items-center gap-0.5 border-b border-line px-1.5">
        <PathBar path={tree.root} onGo={tree.go} />
        <IconButton size="small" label="New file" icon={FilePlus} onClick={() => setAsking({ kind: 'file', folder })} />
        <IconButton
          size="small"
          label="New folder"
          icon={FolderPlus}
          onClick={() => setAsking({ kind: 'folder', folder })}
        />
        <IconButton size="small" label="Upload files" icon={Upload} onClick={() => fileInput.current?.click()} />
        <IconButton size="small" label="Upload a folder" icon={FolderUp} onClick={() => folderInput.current?.click()} />
        <IconButton
          size="small"
          label={tree.hidden ? 'Hide hidden files' : 'Show hidden files'}
          icon={tree.hidden ? Eye : EyeOff}
          aria-pressed={tree.hidden}
          onClick={() => tree.setHidden(!tree.hidden)}
        />
        <Menu
          align="end"
          items={sorts.map(([sortBy, label]) => ({
            label,
            checked: sortBy === tree.sortBy,
            onSelect: () => tree.setSortBy(sortBy),
          }))}
        >
          <IconButton size="small" label="Order" icon={ListFilter} />
        </Menu>
        <IconButton size="small" label="Refresh" icon={RotateCw} onClick={() => void tree.reread()} />
      </div>
      {[fileInput, folderInput].map((input, index) => (
        <input
          key={index === 0 ? 'files' : 'folder'}
          ref={input}
          type="file"
          multiple
          hidden
          aria-label={index === 0 ? 'Files to upload' : 'Folder to upload'}
          {...(index === 1 && { webkitdirectory: '' })}
          onChange={({ target }) => {
            if (target.files) upload(listChosenFiles(target.files), folder)
            target.value = ''
          }}
        />
      ))}
      <div className="min-h-24 flex-[2]">
        <FileTree
          label={`Files in ${tree.root}`}
          root={tree.root}
          rows={tree.rows}
          selected={tree.selected}
          cut={clip?.cut ? clip.path : undefined}
          keys={keys}
          menu={menu}
          onDrop={(data, into) => void receive(data, into)}
          onDragStart={(data, { entry: { path }, isFolder }) => {
            data.setData(dragType, path)
            data.setData('text/plain', path)
            const what = { path, isFolder }
            const url = `${window.location.origin}${downloadUrl(id, what)}`
            data.setData('DownloadURL', `application/octet-stream:${downloadName(what).replaceAll(':', '_')}:${url}`)
          }}
        />
      </div>
    </>
  )

  return (
    <div className="absolute inset-0 flex flex-col" onPaste={onPaste}>
      {running && browser}
      {!running && (
        <div className="min-h-40 flex-[2]">
          <EmptyState
            icon={Power}
            title={`${sandbox.name} is ${sandbox.status}`}
            description="Files are kept. Start the sandbox to see them."
          />
        </div>
      )}
      {files.paths.length > 0 && (
        <OpenFilesView sandboxId={id} files={files} drafts={stored} onSaved={() => void tree.reread()} />
      )}
      <TransferTray
        sandbox={sandbox}
        queue={queue}
        transfers={transfers}
        onWrongFile={({ path }) =>
          notify.info(`This is not the same ${getBasename(path)}`, {
            hint: 'Its size or date differs. Choose the same file, or cancel the upload.',
          })
        }
      />
      {conflict && (
        <ConflictDialog
          key={conflict.id}
          transfer={conflict}
          count={conflicts.length}
          onChoose={(choice, forAll) => {
            for (const { id: transferId, path } of forAll ? conflicts : [conflict]) {
              const into = getDirname(path)
              const other = () => joinPath(into, freeName(getBasename(path), tree.namesIn(into)))
              queue.settle(transferId, choice === 'both' ? { path: other() } : choice)
            }
          }}
        />
      )}
      {(asking?.kind === 'file' || asking?.kind === 'folder') && (
        <NameDialog
          title={asking.kind === 'file' ? 'New file' : 'New folder'}
          label={`Name in ${asking.folder}`}
          confirmLabel="Create"
          onClose={() => setAsking(undefined)}
          onName={async (name) => {
            const path = joinPath(asking.folder, name)
            await (asking.kind === 'file' ? actions.newFile(path) : actions.newFolder(path))
            tree.setSelected(path)
            if (asking.kind === 'file') files.open(path)
          }}
        />
      )}
      {asking?.kind === 'rename' && (
        <NameDialog
          title={`Rename ${getBasename(asking.path)}`}
          label="New name"
          initial={getBasename(asking.path)}
          confirmLabel="Rename"
          onClose={() => setAsking(undefined)}
          onName={async (name) => {
            await actions.rename(asking.path, name)
            tree.setSelected(joinPath(getDirname(asking.path), name))
          }}
        />
      )}
      <ConfirmDialog
        open={asking?.kind === 'remove'}
        onOpenChange={() => setAsking(undefined)}
        title={`Delete ${asking?.kind === 'remove' ? getBasename(asking.path) : ''}?`}
        description={`${asking?.kind === 'remove' ? asking.path : ''} and everything in it is removed from the sandbox. This cannot be undone.`}
        confirmLabel="Delete"
        onConfirm={async () => asking?.kind === 'remove' && actions.remove(asking.path)}
      />
    </div>
  )
}
