import { useState } from 'react'
import { AppError } from '../../../shared/appError.ts'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { ErrorNotice } from '../../ui/ErrorNotice.tsx'
import { TextField } from '../../ui/TextField.tsx'

type NameDialogProps = {
  title: string
  label: string
  initial?: string
  confirmLabel: string
  onClose: () => void
  /** The dialog closes when it resolves, and shows why when it rejects. */
  onName: (name: string) => Promise<unknown>
}

export function NameDialog({ title, label, initial = '', confirmLabel, onClose, onName }: NameDialogProps) {
  const [name, setName] = useState(initial)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const confirm = async () => {
    setBusy(true)
    try {
      if (/^\.{0,2}$|[/\0]/.test(name)) throw new AppError('file/path', `“${name}” cannot be the name of a file.`)
      await onName(name)
      onClose()
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={title}
      width="narrow"
      onSubmit={() => void confirm()}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={busy} disabled={name === ''}>
            {confirmLabel}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <TextField label={label} value={name} onChange={setName} autoFocus onFocus={({ target }) => target.select()} />
        {error !== undefined && <ErrorNotice error={error} />}
      </div>
    </Dialog>
  )
}
