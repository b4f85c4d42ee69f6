import { useState } from 'react'
import type { ConversationSummary, Folder, FolderId } from '../../../../shared/contract/chats.ts'
import { Button } from '../../../ui/Button.tsx'
import { Dialog } from '../../../ui/Dialog.tsx'
import { ErrorNotice } from '../../../ui/ErrorNotice.tsx'
import { Select } from '../../../ui/Select.tsx'
import { TextField } from '../../../ui/TextField.tsx'
import { useFolderActions } from './useFolderActions.ts'

type MoveDialogProps = {
  conversation: ConversationSummary
  folders: readonly Folder[]
  onMove: (folder: FolderId | null) => Promise<unknown>
  onClose: () => void
}

/** Mounted while it is open. */
export function MoveDialog({ conversation, folders, onMove, onClose }: MoveDialogProps) {
  const { create } = useFolderActions()
  const [chosen, setChosen] = useState<string>(conversation.folder_id ?? 'none')
  const [name, setName] = useState('')
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const move = async () => {
    if (busy || (chosen === 'new' && name.trim() === '')) return
    setBusy(true)
    setFailure(undefined)
    try {
      const folder = chosen === 'new' ? await create(name.trim()) : folders.find(({ id }) => id === chosen)
      await onMove(folder?.id ?? null)
      onClose()
    } catch (refusal) {
      setFailure(refusal)
      setBusy(false)
    }
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !busy && onClose()}
      title="Move to a folder"
      width="narrow"
      onSubmit={() => void move()}
      footer={
        <>
          <Button onClick={onClose} disabled={busy}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={busy}>
            Move
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
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
        {failure !== undefined && <ErrorNotice error={failure} />}
      </div>
    </Dialog>
  )
}
