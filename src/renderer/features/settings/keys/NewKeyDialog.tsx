import { useState } from 'react'
import { createApiKey } from '../../../../shared/contract/accounts.ts'
import { listSandboxes } from '../../../../shared/contract/sandboxes.ts'
import { Button } from '../../../ui/Button.tsx'
import { CopyLine } from '../../../ui/CopyLine.tsx'
import { Dialog } from '../../../ui/Dialog.tsx'
import { ErrorNotice } from '../../../ui/ErrorNotice.tsx'
import { TextField } from '../../../ui/TextField.tsx'
import { useApiKeyActions } from './useApiKeys.ts'

/** Asks for a name, then shows the key: it is in this component's state alone, and gone when it closes. */
export function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<Made>()
  return made ? <MadeKey {...made} onClose={onClose} /> : <NewKeyForm onMade={setMade} onClose={onClose} />
}

type Made = { name: string; secret: string }
type NewKeyFormProps = { onMade: (made: Made) => void; onClose: () => void }

function NewKeyForm({ onMade, onClose }: NewKeyFormProps) {
  const { create } = useApiKeyActions()
  const [name, setName] = useState('')
  const [busy, setBusy] = useState(false)
  const [wrong, setWrong] = useState<string>()
  const [error, setError] = useState<unknown>()

  const send = async () => {
    const parsed = createApiKey.body.shape.name.safeParse(name)
    setWrong(parsed.error && `A name ${parsed.error.issues[0]?.message}.`)
    if (!parsed.success || busy) return
    setBusy(true)
    setError(undefined)
    try {
      onMade({ name: parsed.data, secret: await create(parsed.data) })
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !busy && onClose()}
      title="New API key"
      description="Name it after the program that will use it."
      width="narrow"
      onSubmit={() => void send()}
      footer={
        <>
          <Button onClick={onClose} disabled={busy}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={busy}>
            Create key
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <TextField label="Name" value={name} onChange={setName} error={wrong} placeholder="ci, research-agent" />
        {error !== undefined && <ErrorNotice error={error} />}
      </div>
    </Dialog>
  )
}

type MadeKeyProps = Made & { onClose: () => void }

function MadeKey({ name, secret, onClose }: MadeKeyProps) {
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Key created: ${name}`}
      description="Copy it now. You won’t see it again."
      footer={
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <section aria-label="Key" className="flex flex-col gap-1.5">
          <h3 className="font-medium">Key</h3>
          <CopyLine text={secret} label="Copy key" />
        </section>
        <section aria-label="Try it" className="flex flex-col gap-1.5">
          <h3 className="font-medium">Try it</h3>
          <CopyLine text={exampleOf(window.location.origin)} label="Copy command" />
          <p className="text-small text-faint">
            Put the key into the variable <code className="font-mono">STEWARD_KEY</code> first, so that it stays out of
            the shell’s history. The address is this Steward’s, as long as it runs.
          </p>
        </section>
      </div>
    </Dialog>
  )
}

function exampleOf(origin: string): string {
  return `curl -H "Authorization: Bearer $STEWARD_KEY" ${origin}${listSandboxes.path}`
}
