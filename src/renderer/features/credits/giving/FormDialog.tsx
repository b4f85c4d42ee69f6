import { type ReactNode, useState } from 'react'
import { Button } from '../../../ui/Button.tsx'
import { Dialog } from '../../../ui/Dialog.tsx'
import { ErrorNotice } from '../../../ui/ErrorNotice.tsx'

type FormDialogProps = {
  title: string
  description: ReactNode
  /** The deed itself: `Grant $5.00`. */
  action: string
  /** What stands at the left of it; absent: a button that closes. */
  back?: { label: string; run: () => void }
  /** False where there is something to mend in the form first. */
  onSend: () => Promise<unknown> | false
  onClose: () => void
  children: ReactNode
}

/** Stays open while it is sent, and shows why it was refused; what was typed stays. */
export function FormDialog({ title, description, action, back, onSend, onClose, children }: FormDialogProps) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const send = async () => {
    if (busy) return
    const sent = onSend()
    if (sent === false) return
    setBusy(true)
    setError(undefined)
    try {
      await sent
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !busy && onClose()}
      title={title}
      description={description}
      width="narrow"
      onSubmit={() => void send()}
      footer={
        <>
          <Button onClick={back?.run ?? onClose} disabled={busy}>
            {back?.label ?? 'Cancel'}
          </Button>
          <Button type="submit" variant="primary" busy={busy}>
            {action}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        {children}
        {error !== undefined && <ErrorNotice error={error} />}
      </div>
    </Dialog>
  )
}

/** In the place of a form, for somebody who came by its address. */
export function OwnerOnly({ title, onClose }: { title: string; onClose: () => void }) {
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={title}
      description="Only the owner of this service can do this."
      width="narrow"
      footer={<Button onClick={onClose}>Close</Button>}
    />
  )
}
