import { useState } from 'react'
import { FormDialog } from '#renderer/ui/FormDialog.tsx'
import { Select } from '#renderer/ui/Select.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import type { ConversationSummary, Folder, FolderId } from '#shared/contract/chats.ts'
import { useFolderActions } from './useFolderActions.ts'

type MoveDialogProps = {
  conversation: ConversationSummary
  folders: readonly Folder[]
  onMove: (folder: FolderId | null) => Promise<unknown>
  onClose: () => void
}

/** Mount only while open. */
export function MoveDialog({ conversation, folders, onMove, onClose }: MoveDialogProps) {
  const { create } = useFolderActions()
  const [chosen, setChosen] = useState<string>(conversation.folder_id ?? 'none')
  const [name, setName] = useState('')
  const isNamed = chosen !== 'new' || name.trim() !== ''
  const move = async () => {
    const folder = chosen === 'new' ? await create(name.trim()) : folders.find(({ id }) => id === chosen)
    await onMove(folder?.id ?? null)
    onClose()
  }
  return (
    <FormDialog title="Move to a folder" action="Move" onSend={() => (isNamed ? move() : false)} onClose={onClose}>
      <Select
        label="Folder"
        value={chosen}
        onChange={setChosen}
        options={[
          { value: 'none', label: 'No folder' },
          ...folders.map((folder) => ({ value: folder.id as string, label: folder.name })),
          { value: 'new', label: 'New folder…' },
        ]}
      />
      {chosen === 'new' && <TextField label="Name" value={name} onChange={setName} autoFocus />}
    </FormDialog>
  )
}
