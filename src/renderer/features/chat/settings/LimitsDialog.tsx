import { Button } from '#renderer/ui/Button.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'
import { BudgetSettings } from './BudgetSettings.tsx'

/** Limits of all chats, for use without an open chat. Mount only while open. */
export function LimitsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Spending limits of chats"
      footer={<Button onClick={onClose}>Done</Button>}
    >
      <div className="-mx-3">
        <BudgetSettings />
      </div>
    </Dialog>
  )
}
