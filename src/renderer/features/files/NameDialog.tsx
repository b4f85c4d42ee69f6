import { useState } from 'react'
import { AppError } from '#shared/appError.ts'
import { FormDialog } from '../../ui/FormDialog.tsx'
import { TextField } from '../../ui/TextField.tsx'

type NameDialogProps = {
  title: string
  label: string
  initial?: string
  confirmLabel: string
  onClose: () => void
  /** The dialog closes when the promise resolves, and shows the error if it rejects. */
  onName: (name: string) => Promise<unknown>
}

export function NameDialog({ title, label, initial = '', confirmLabel, onClose, onName }: NameDialogProps) {
  const [name, setName] = useState(initial)
  const send = async () => {
    if (/^\.{0,2}$|[/\0]/.test(name)) throw new AppError('file/path', `“${name}” is not a valid file name.`)
    await onName(name)
    onClose()
  }
  return (
    <FormDialog title={title} action={confirmLabel} ready={name !== ''} onSend={send} onClose={onClose}>
      <TextField label={label} value={name} onChange={setName} autoFocus onFocus={({ target }) => target.select()} />
    </FormDialog>
  )
}
