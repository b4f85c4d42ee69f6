import { Eye, EyeOff, FilePlus, FolderPlus, FolderUp, ListFilter, RotateCw, Upload } from 'lucide-react'
import type { SandboxId } from '#shared/ids.ts'
import { IconButton } from '../../ui/IconButton.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { downloadName, downloadUrl } from './fileLinks.ts'
import { PathBar } from './PathBar.tsx'
import { listChosenFiles } from './transfers/readDropped.ts'
import { FileTree } from './tree/FileTree.tsx'
import type { SortBy } from './tree/treeRows.ts'
import type { EntryRow } from './tree/useTreeKeys.ts'
import { dragType, type FileBrowserState } from './useFileBrowser.ts'
import type { FileTreeState } from './useFileTree.ts'

const sorts: readonly [SortBy, string][] = [
  ['name', 'By name'],
  ['size', 'Largest first'],
  ['modified', 'Newest first'],
]

type FileBrowserProps = { sandboxId: SandboxId; tree: FileTreeState; browser: FileBrowserState }

export function FileBrowser({ sandboxId, tree, browser }: FileBrowserProps) {
  return (
    <>
      <FileToolbar tree={tree} browser={browser} />
      <UploadInputs browser={browser} />
      <div className="min-h-24 flex-[2]">
        <FileTree
          label={`Files in ${tree.root}`}
          root={tree.root}
          rows={tree.rows}
          selected={tree.selected}
          cut={browser.cut}
          keys={browser.keys}
          menu={browser.menu}
          onDrop={(data, into) => void browser.receive(data, into)}
          onDragStart={(data, row) => setDragData(data, sandboxId, row)}
        />
      </div>
    </>
  )
}

function FileToolbar({ tree, browser }: Omit<FileBrowserProps, 'sandboxId'>) {
  return (
    <div className="flex h-9 shrink-0 items-center gap-0.5 border-b border-line px-1.5">
      <PathBar path={tree.root} onGo={tree.go} />
      <IconButton size="small" label="New file" icon={FilePlus} onClick={() => browser.askForName('file')} />
      <IconButton size="small" label="New folder" icon={FolderPlus} onClick={() => browser.askForName('folder')} />
      <IconButton size="small" label="Upload files" icon={Upload} onClick={() => browser.chooseFiles()} />
      <IconButton size="small" label="Upload a folder" icon={FolderUp} onClick={() => browser.chooseFolder()} />
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
        <IconButton size="small" label="Sort" icon={ListFilter} />
      </Menu>
      <IconButton size="small" label="Refresh" icon={RotateCw} onClick={() => void tree.reread()} />
    </div>
  )
}

function UploadInputs({ browser }: Pick<FileBrowserProps, 'browser'>) {
  const { fileInput, folderInput, upload, folder } = browser
  return [fileInput, folderInput].map((input, index) => (
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
  ))
}

function setDragData(data: DataTransfer, sandboxId: SandboxId, { entry: { path }, isFolder }: EntryRow): void {
  data.setData(dragType, path)
  data.setData('text/plain', path)
  const download = { path, isFolder }
  const url = `${window.location.origin}${downloadUrl(sandboxId, download)}`
  data.setData('DownloadURL', `application/octet-stream:${downloadName(download).replaceAll(':', '_')}:${url}`)
}
