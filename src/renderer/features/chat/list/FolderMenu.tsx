import { ChevronDown, Folder as FolderIcon, FolderPlus, MessagesSquare, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { ConfirmDialog } from '#renderer/ui/ConfirmDialog.tsx'
import { Menu, type MenuItem } from '#renderer/ui/Menu.tsx'
import { NameDialog } from '#renderer/ui/NameDialog.tsx'
import { type Folder, type FolderId, Title } from '#shared/contract/chats.ts'
import { useFolderActions } from './useFolderActions.ts'

type FolderMenuProps = {
  folders: readonly Folder[]
  present: FolderId | undefined
  onChoose: (folder: FolderId | undefined) => void
}

export function FolderMenu({ folders, present, onChoose }: FolderMenuProps) {
  const { create, rename, remove } = useFolderActions()
  const [dialog, setDialog] = useState<'new' | 'rename' | 'delete'>()
  const folder = folders.find(({ id }) => id === present)
  const items: MenuItem[] = [
    { label: 'All chats', icon: MessagesSquare, checked: folder === undefined, onSelect: () => onChoose(undefined) },
    ...folders.map(
      ({ id, name, conversations }): MenuItem => ({
        label: `${name} (${conversations})`,
        icon: FolderIcon,
        checked: id === present,
        onSelect: () => onChoose(id),
      }),
    ),
    'separator',
    { label: 'New folder…', icon: FolderPlus, onSelect: () => setDialog('new') },
    ...(folder
      ? ([
          { label: 'Rename folder…', icon: Pencil, onSelect: () => setDialog('rename') },
          { label: 'Delete folder…', icon: Trash2, tone: 'danger', onSelect: () => setDialog('delete') },
        ] as const)
      : []),
  ]
  const close = () => setDialog(undefined)
  return (
    <>
      <Menu items={items}>
        <button
          type="button"
          className="inline-flex h-7 min-w-0 items-center gap-1 rounded-control px-2 text-small font-medium text-muted hover:bg-hover hover:text-text aria-expanded:bg-selected"
        >
          <span className="truncate">{folder?.name ?? 'All chats'}</span>
          <ChevronDown aria-hidden className="size-3.5 shrink-0 text-faint" />
        </button>
      </Menu>
      {dialog === 'new' && (
        <NameDialog
          title="New folder"
          schema={Title}
          initial=""
          confirmLabel="Create"
          onConfirm={async (name) => onChoose((await create(name)).id)}
          onClose={close}
        />
      )}
      {folder && dialog === 'rename' && (
        <NameDialog
          title="Rename folder"
          schema={Title}
          initial={folder.name}
          confirmLabel="Rename"
          onConfirm={(name) => rename(folder.id, name)}
          onClose={close}
        />
      )}
      {folder && (
        <ConfirmDialog
          open={dialog === 'delete'}
          onOpenChange={close}
          title={`Delete folder “${folder.name}”?`}
          description="Its chats are kept, outside any folder."
          confirmLabel="Delete folder"
          onConfirm={async () => {
            await remove(folder.id)
            onChoose(undefined)
          }}
        />
      )}
    </>
  )
}
