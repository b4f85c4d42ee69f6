import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { NameDialog } from './NameDialog.tsx'
import { getBasename, getDirname, joinPath } from './paths.ts'
import type { FileActions } from './useFileActions.ts'
import type { FileTreeState } from './useFileTree.ts'
import type { OpenFiles } from './useOpenFiles.ts'

/** Dialog that creates, renames or deletes a file or folder. */
export type FileDialog = { kind: 'file' | 'folder'; folder: string } | { kind: 'rename' | 'remove'; path: string }

type FileDialogsProps = {
  dialog: FileDialog | undefined
  onClose: () => void
  tree: FileTreeState
  files: OpenFiles
  actions: FileActions
}

export function FileDialogs({ dialog, onClose, tree, files, actions }: FileDialogsProps) {
  return (
    <>
      {(dialog?.kind === 'file' || dialog?.kind === 'folder') && (
        <NameDialog
          title={dialog.kind === 'file' ? 'New file' : 'New folder'}
          label={`Name in ${dialog.folder}`}
          confirmLabel="Create"
          onClose={onClose}
          onName={async (name) => {
            const path = joinPath(dialog.folder, name)
            await (dialog.kind === 'file' ? actions.newFile(path) : actions.newFolder(path))
            tree.setSelected(path)
            if (dialog.kind === 'file') files.open(path)
          }}
        />
      )}
      {dialog?.kind === 'rename' && (
        <NameDialog
          title={`Rename ${getBasename(dialog.path)}`}
          label="New name"
          initial={getBasename(dialog.path)}
          confirmLabel="Rename"
          onClose={onClose}
          onName={async (name) => {
            await actions.rename(dialog.path, name)
            tree.setSelected(joinPath(getDirname(dialog.path), name))
          }}
        />
      )}
      <ConfirmDialog
        open={dialog?.kind === 'remove'}
        onOpenChange={onClose}
        title={`Delete ${dialog?.kind === 'remove' ? getBasename(dialog.path) : ''}?`}
        description={`${dialog?.kind === 'remove' ? dialog.path : ''} and everything in it is removed from the sandbox. This cannot be undone.`}
        confirmLabel="Delete"
        onConfirm={async () => dialog?.kind === 'remove' && actions.remove(dialog.path)}
      />
    </>
  )
}
