import { type ReactNode, useState } from 'react'
import { Button } from './Button.tsx'
import { Dialog } from './Dialog.tsx'
import { ErrorNotice } from './ErrorNotice.tsx'
import { TextField } from './TextField.tsx'

type ConfirmDialogProps = {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: string
  /** Effect of the action, and whether it can be undone. */
  description: ReactNode
  /** Label of the action, such as `Delete sandbox` rather than `OK`. */
  confirmLabel: string
  /** Defaults to `Cancel`. */
  cancelLabel?: string
  tone?: 'danger' | 'primary'
  /** Text to type as confirmation. */
  typed?: string
  /** The dialog closes when the promise resolves, and shows the error if it rejects. */
  onConfirm: () => Promise<unknown>
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  // Remounts the dialog for each opening, which resets input and errors.
  return props.open ? <OpenConfirmDialog {...props} /> : null
}

function OpenConfirmDialog({
  onOpenChange,
  title,
  description,
  confirmLabel,
  cancelLabel = 'Cancel',
  tone = 'danger',
  typed,
  onConfirm,
}: ConfirmDialogProps) {
  const [written, setWritten] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  // For dangerous actions, Enter must not confirm by default.
  const isDanger = tone === 'danger'
  const ready = typed === undefined || written.trim() === typed

  const confirm = async () => {
    if (!ready || busy) return
    setBusy(true)
    setError(undefined)
    try {
      await onConfirm()
      onOpenChange(false)
    } catch (error) {
      setError(error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <Dialog
      open
      onOpenChange={(next) => !busy && onOpenChange(next)}
      title={title}
      description={description}
      width="narrow"
      onSubmit={() => void confirm()}
      footer={
        <>
          <Button onClick={() => onOpenChange(false)} disabled={busy} autoFocus={isDanger && typed === undefined}>
            {cancelLabel}
          </Button>
          <Button
            type="submit"
            variant={tone}
            busy={busy}
            disabled={!ready}
            autoFocus={!isDanger && typed === undefined}
          >
            {confirmLabel}
          </Button>
        </>
      }
    >
      {typed === undefined && error === undefined ? undefined : (
        <div className="flex flex-col gap-3">
          {typed !== undefined && (
            <TextField label={`Type “${typed}” to confirm`} value={written} onChange={setWritten} autoFocus />
          )}
          {error !== undefined && <ErrorNotice error={error} />}
        </div>
      )}
    </Dialog>
  )
}
