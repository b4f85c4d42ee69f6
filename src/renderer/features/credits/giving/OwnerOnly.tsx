import { Button } from '#renderer/ui/Button.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'

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
