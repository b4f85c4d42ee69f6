import type { ReactNode } from 'react'
import { Button } from '../../ui/Button.tsx'
import { CopyLine } from '../../ui/CopyLine.tsx'
import { Dialog } from '../../ui/Dialog.tsx'

type NewSecretDialogProps = {
  title: string
  description: string
  secret: string
  onClose: () => void
  children: ReactNode
}

/** Shows a key once. The key is discarded when the dialog closes. */
export function NewSecretDialog({ title, description, secret, onClose, children }: NewSecretDialogProps) {
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={title}
      description={description}
      footer={
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <KeyStep title="Key">
          <CopyLine text={secret} label="Copy key" />
        </KeyStep>
        {children}
      </div>
    </Dialog>
  )
}

export function KeyStep({ title, hint, children }: { title: string; hint?: ReactNode; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col gap-1.5">
      <h3 className="font-medium">{title}</h3>
      {children}
      {hint !== undefined && <p className="text-small text-faint">{hint}</p>}
    </section>
  )
}
