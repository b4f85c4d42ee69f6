import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'

type ResumeDialogProps = { open: boolean; onOpenChange: (open: boolean) => void; resume: () => Promise<void> }

export function ResumeDialog({ open, onOpenChange, resume }: ResumeDialogProps) {
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onOpenChange}
      title="Let your policies decide again?"
      description="From then on they allow, ask and deny as before the stop, and what was approved in advance holds again. What was refused meanwhile stays refused."
      confirmLabel="Resume"
      tone="primary"
      onConfirm={resume}
    />
  )
}
