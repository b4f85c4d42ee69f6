import { type ReactNode, useState } from 'react'
import { Button } from './Button.tsx'
import { Dialog } from './Dialog.tsx'
import { ErrorNotice } from './ErrorNotice.tsx'

type FormDialogProps = {
  title: string
  description?: ReactNode
  width?: 'narrow' | 'medium' | 'wide'
  /** Whether clicking outside does not close the dialog, so that no input is lost. */
  staysOpen?: boolean
  /** Label of the action, such as `Grant $5.00`. */
  action: string
  /** Whether the form can be submitted. Defaults to true. */
  ready?: boolean
  /** Whether the action button takes the initial focus, for dialogs without fields. */
  focusesAction?: boolean
  /** Button at the left. By default, it closes the dialog. */
  back?: { label: string; icon?: ButtonIcon; run: () => void }
  /** @returns false if the form is invalid; otherwise, the caller closes the dialog after the promise resolves */
  onSend: () => Promise<unknown> | false
  onClose: () => void
  children: ReactNode
}

type ButtonIcon = NonNullable<Parameters<typeof Button>[0]['icon']>

/**
 * Dialog with a form. Mount only while open. Stays open while submitting. If the request fails, shows the error and
 * preserves the input.
 */
export function FormDialog(props: FormDialogProps) {
  const { title, description, width = 'narrow', staysOpen = false, action, ready = true, back, onClose } = props
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const send = async () => {
    if (busy || !ready) return
    const sent = props.onSend()
    if (sent === false) return
    setBusy(true)
    setError(undefined)
    try {
      await sent
    } catch (error) {
      setError(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !busy && (back?.run ?? onClose)()}
      title={title}
      {...(description !== undefined && { description })}
      width={width}
      staysOpen={staysOpen}
      onSubmit={() => void send()}
      footer={
        <>
          <Button {...(back?.icon && { icon: back.icon })} onClick={back?.run ?? onClose} disabled={busy}>
            {back?.label ?? 'Cancel'}
          </Button>
          <Button
            type="submit"
            variant="primary"
            busy={busy}
            disabled={!ready}
            autoFocus={props.focusesAction ?? false}
          >
            {action}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        {props.children}
        {error !== undefined && <ErrorNotice error={error} />}
      </div>
    </Dialog>
  )
}
