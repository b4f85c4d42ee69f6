import { Power } from 'lucide-react'
import { type ClipboardEvent, useEffect, useEffectEvent, useState } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { notify } from '../../ui/toast.tsx'
import type { TextPosition } from './editor/codeEditor.ts'
import { openDrafts } from './editor/drafts.ts'
import { FileBrowser } from './FileBrowser.tsx'
import { FileDialogs } from './FileDialogs.tsx'
import { OpenFilesView } from './OpenFilesView.tsx'
import { getBasename } from './paths.ts'
import { TransferConflicts } from './transfers/TransferConflicts.tsx'
import { TransferTray } from './transfers/TransferTray.tsx'
import { useTransfers } from './transfers/useTransfers.ts'
import { useFileActions } from './useFileActions.ts'
import { useFileBrowser } from './useFileBrowser.ts'
import { useFileTree } from './useFileTree.ts'
import { useOpenFiles } from './useOpenFiles.ts'

type SandboxFilesProps = {
  sandbox: Sandbox
  visible: boolean
  /** File or folder to open. Each request is a new object. */
  request: { path: string; isFolder?: boolean; at?: TextPosition | undefined } | undefined
}

export function SandboxFiles({ sandbox, visible, request }: SandboxFilesProps) {
  const { id } = sandbox
  const running = sandbox.status === 'running'
  const tree = useFileTree(id, running && visible)
  const actions = useFileActions(id)
  const [stored] = useState(() => openDrafts(id))
  const files = useOpenFiles(stored)
  const openRequested = useEffectEvent(() => {
    if (request?.isFolder) tree.go(request.path)
    else if (request) files.open(request.path, request.at)
  })
  useEffect(() => {
    if (request) openRequested()
  }, [request])
  const { queue, transfers } = useTransfers(id)
  const browser = useFileBrowser({ sandboxId: id, tree, files, queue, actions })
  const onPaste = (event: ClipboardEvent) => {
    if (!(event.target instanceof Element && event.target.closest('[role="tree"]'))) return
    if (event.clipboardData.files.length > 0) void browser.receive(event.clipboardData, browser.folder)
    else void browser.paste()
  }

  return (
    <div className="absolute inset-0 flex flex-col" onPaste={onPaste}>
      {running && <FileBrowser sandboxId={id} tree={tree} browser={browser} />}
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
          notify.info(`This is a different ${getBasename(path)}`, {
            hint: 'Its size or date differs. Choose the same file, or cancel the upload.',
          })
        }
      />
      <TransferConflicts queue={queue} transfers={transfers} namesIn={tree.namesIn} />
      <FileDialogs dialog={browser.dialog} onClose={browser.closeDialog} tree={tree} files={files} actions={actions} />
    </div>
  )
}
