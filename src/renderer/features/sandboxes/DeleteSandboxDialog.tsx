import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { useTerminals } from '../../api/terminals/useTerminals.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'

type DeleteSandboxDialogProps = {
  sandbox: Sandbox
  remove: (sandbox: Sandbox) => Promise<void>
  onClose: () => void
}

export function DeleteSandboxDialog({ sandbox, remove, onClose }: DeleteSandboxDialogProps) {
  const { data: terminals = [] } = useTerminals(sandbox.id)
  const running = terminals.filter(({ state }) => state === 'running').length
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Delete ${sandbox.name}?`}
      description={`${describeLoss(running)} This cannot be undone.`}
      confirmLabel="Delete sandbox"
      onConfirm={() => remove(sandbox)}
    />
  )
}

function describeLoss(running: number): string {
  if (running === 0) return 'All files are deleted.'
  return `All files are deleted, and ${running === 1 ? 'the program in its terminal ends' : `the programs in its ${running} terminals end`}.`
}
