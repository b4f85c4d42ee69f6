import { Button } from '#renderer/ui/Button.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'

/** Shown in place of a form to users who are not the owner. */
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
