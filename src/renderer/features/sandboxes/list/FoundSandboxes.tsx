import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { ConfirmDialog } from '#renderer/ui/ConfirmDialog.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import type { FoundSandbox } from '#shared/contract/foundSandboxes.ts'
import { useFoundSandboxes } from './useFoundSandboxes.ts'

/**
 * Offers to restore or delete sandboxes that are missing in the database, for example after restoring an older backup.
 */
export function FoundSandboxes() {
  const { sandboxes, keep, remove } = useFoundSandboxes()
  const [deleting, setDeleting] = useState<FoundSandbox>()
  if (sandboxes.length === 0) return null
  const keepOne = (sandbox: FoundSandbox): void => {
    keep(sandbox).catch((error: unknown) => notify.failed(error, { title: `Could not keep ${formatName(sandbox)}` }))
  }
  return (
    <section aria-label="Found sandboxes" className="m-2 rounded-card border border-line bg-caution-soft p-3">
      <p className="text-text">
        Found {sandboxes.length === 1 ? '1 sandbox that is' : `${sandboxes.length} sandboxes that are`} missing from the
        database.
      </p>
      <ul className="mt-2 flex max-h-60 flex-col gap-2 overflow-y-auto">
        {sandboxes.map((sandbox) => (
          <li key={sandbox.id} className="flex items-center gap-1.5">
            <span className="min-w-0 flex-1 truncate text-text">{formatName(sandbox)}</span>
            <Button size="small" aria-label={`Keep ${formatName(sandbox)}`} onClick={() => keepOne(sandbox)}>
              Keep
            </Button>
            <Button size="small" aria-label={`Delete ${formatName(sandbox)}`} onClick={() => setDeleting(sandbox)}>
              Delete
            </Button>
          </li>
        ))}
      </ul>
      {deleting && (
        <ConfirmDialog
          open
          onOpenChange={(open) => !open && setDeleting(undefined)}
          title={`Delete ${formatName(deleting)}?`}
          description="All files and snapshots are deleted. This cannot be undone."
          confirmLabel="Delete sandbox"
          onConfirm={() => remove(deleting)}
        />
      )}
    </section>
  )
}

function formatName({ name, short_id: shortId }: FoundSandbox): string {
  return name ?? shortId
}
