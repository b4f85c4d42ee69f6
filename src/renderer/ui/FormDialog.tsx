import { type ReactNode, useState } from 'react'
import { Button } from './Button.tsx'
import { Dialog } from './Dialog.tsx'
import { ErrorNotice } from './ErrorNotice.tsx'

type FormDialogProps = {
  title: string
  description?: ReactNode
  width?: 'narrow' | 'medium' | 'wide'
  /** A press beside it does not close it: it would lose what took effort. */
  staysOpen?: boolean
  /** The deed itself: `Grant $5.00`. */
  action: string
  /** Whether it can be done yet; absent: yes. */
  ready?: boolean
  /** Enter does it at once, where there is no field to begin with. */
  focusesAction?: boolean
  /** Button at the left. Default: closes the dialog. */
  back?: { label: string; icon?: ButtonIcon; run: () => void }
  /** Returns false if the form is invalid. Otherwise, the caller closes the dialog. */
  onSend: () => Promise<unknown> | false
  onClose: () => void
  children: ReactNode
}

type ButtonIcon = NonNullable<Parameters<typeof Button>[0]['icon']>

/** Mounted while it is open. Stays open while it is sent, and shows why it was refused; what was typed stays. */
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
