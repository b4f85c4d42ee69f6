import { ConfirmDialog } from '#renderer/ui/ConfirmDialog.tsx'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { CommandText } from './CommandText.tsx'

type StopDialogProps = {
  sandbox: Sandbox
  /** Programs that would be terminated; empty if unknown. */
  programs: readonly string[]
  stop: (sandbox: Sandbox) => Promise<void>
  onClose: () => void
}

const maxListed = 5

/** Asks for confirmation before a sandbox with running programs is stopped. */
export function StopDialog({ sandbox, programs, stop, onClose }: StopDialogProps) {
  const [only, ...others] = programs
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Stop ${sandbox.name}?`}
      description={
        <>
          {only === undefined ? (
            <p>Programs in it may still be running. Stopping ends them.</p>
          ) : others.length === 0 ? (
            <p>
              <CommandText text={only} /> is still running. Stopping the sandbox ends it.
            </p>
          ) : (
            <>
              <p>These programs are still running. Stopping the sandbox ends them.</p>
              <ul className="mt-2 list-disc pl-4">
                {programs.slice(0, maxListed).map((command) => (
                  <li key={command}>
                    <CommandText text={command} />
                  </li>
                ))}
                {programs.length > maxListed && <li>and {programs.length - maxListed} more</li>}
              </ul>
            </>
          )}
          <p className="mt-2 text-small text-faint">You can turn this off in Terminal preferences.</p>
        </>
      }
      confirmLabel="Stop sandbox"
      onConfirm={() => stop(sandbox)}
    />
  )
}
