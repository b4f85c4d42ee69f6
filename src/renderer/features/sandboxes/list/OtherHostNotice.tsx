import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { ConfirmDialog } from '#renderer/ui/ConfirmDialog.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { useSandboxHost } from './useSandboxHost.ts'

/** Offers to stop the sandboxes of another version of Steward, which this one cannot use, as after an update. */
export function OtherHostNotice() {
  const { host, replace } = useSandboxHost()
  const [asking, setAsking] = useState(false)
  if (host?.state !== 'other-version') return null
  const { version, running_sandboxes: count } = host
  const sandboxes = count === 1 ? '1 sandbox was' : `${count} sandboxes were`
  return (
    <section aria-label="Other version" className="m-2 rounded-card border border-line bg-caution-soft p-3">
      <p className="text-text">
        {sandboxes} started by {version === null ? 'another version of Steward' : `Steward ${version}`}, and this
        version can’t use {count === 1 ? 'it' : 'them'}.
      </p>
      <Button className="mt-2" size="small" onClick={() => setAsking(true)}>
        Stop all and continue…
      </Button>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={count === 1 ? 'Stop the sandbox and continue?' : `Stop ${count} sandboxes and continue?`}
        description="Programs and terminals in them end. Files are kept, and you can start the sandboxes again."
        confirmLabel="Stop all and continue"
        onConfirm={async () => {
          await replace()
          notify.done('Sandboxes stopped. You can start them again.')
        }}
      />
    </section>
  )
}
