import { ConfirmDialog } from '#renderer/ui/ConfirmDialog.tsx'

export const stopQuestion = {
  title: 'Stop everything?',
  description:
    'Signing, payments, tools and models are refused until you resume. Running chats end, and waiting requests are denied. Sandboxes keep running.',
  confirmLabel: 'Stop everything',
} as const

type StopDialogProps = { open: boolean; onOpenChange: (open: boolean) => void; stop: () => Promise<void> }

export function StopDialog({ open, onOpenChange, stop }: StopDialogProps) {
  return <ConfirmDialog open={open} onOpenChange={onOpenChange} {...stopQuestion} onConfirm={stop} />
}
