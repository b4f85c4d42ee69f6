import { useState } from 'react'
import { Title } from '../../../../shared/contract/chats.ts'
import { Button } from '../../../ui/Button.tsx'
import { Dialog } from '../../../ui/Dialog.tsx'
import { ErrorNotice } from '../../../ui/ErrorNotice.tsx'
import { TextField } from '../../../ui/TextField.tsx'

type RenameDialogProps = {
  title: string
  label: string
  initial: string
  confirmLabel: string
  /** Rejects with why it stays as it is. */
  onConfirm: (name: string) => Promise<unknown>
  onClose: () => void
}

/** Mounted while it is open. */
export function RenameDialog({ title, label, initial, confirmLabel, onConfirm, onClose }: RenameDialogProps) {
  const [name, setName] = useState(initial)
  const [wrong, setWrong] = useState<string>()
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const submit = async () => {
    const issue = Title.safeParse(name).error?.issues[0]
    setWrong(issue && `The ${label.toLowerCase()} ${issue.message}.`)
    if (issue || busy) return
    setBusy(true)
    setFailure(undefined)
    try {
      await onConfirm(name.trim())
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
      title={title}
      width="narrow"
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose} disabled={busy}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={busy}>
            {confirmLabel}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <TextField
          label={label}
          value={name}
          onChange={setName}
          error={wrong}
          onFocus={(event) => event.target.select()}
          autoFocus
        />
        {failure !== undefined && <ErrorNotice error={failure} />}
      </div>
    </Dialog>
  )
}
