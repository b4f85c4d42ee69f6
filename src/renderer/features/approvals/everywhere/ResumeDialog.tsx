import { ConfirmDialog } from '#renderer/ui/ConfirmDialog.tsx'

type ResumeDialogProps = { open: boolean; onOpenChange: (open: boolean) => void; resume: () => Promise<void> }

export function ResumeDialog({ open, onOpenChange, resume }: ResumeDialogProps) {
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onOpenChange}
      title="Resume?"
      description="Signing, payments, tools and models work again, by your policies and remembered approvals. Requests refused meanwhile stay refused."
      confirmLabel="Resume"
      tone="primary"
      onConfirm={resume}
    />
  )
}
