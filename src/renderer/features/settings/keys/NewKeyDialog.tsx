import { useState } from 'react'
import { createApiKey } from '../../../../shared/contract/accounts.ts'
import { listSandboxes } from '../../../../shared/contract/sandboxes.ts'
import { Button } from '../../../ui/Button.tsx'
import { CopyLine } from '../../../ui/CopyLine.tsx'
import { Dialog } from '../../../ui/Dialog.tsx'
import { ErrorNotice } from '../../../ui/ErrorNotice.tsx'
import { TextField } from '../../../ui/TextField.tsx'
import { KeyModels } from './KeyModels.tsx'
import { limitCents } from './keyLimits.ts'
import { useApiKeyActions } from './useApiKeys.ts'

/** Asks for a name, then shows the key: it is in this component's state alone, and gone when it closes. */
export function NewKeyDialog({ initialName = '', nextLine, onClose }: NewKeyDialogProps) {
  const [made, setMade] = useState<Made>()
  if (made) return <MadeKey {...made} nextLine={nextLine} onClose={onClose} />
  return <NewKeyForm initialName={initialName} onMade={setMade} onClose={onClose} />
}

type NewKeyDialogProps = {
  /** Of the program that it is for, where that is known. */
  initialName?: string
  /** What the key is pasted into; absent shows a first call. */
  nextLine?: string
  onClose: () => void
}

type Made = { name: string; secret: string }
type NewKeyFormProps = { initialName: string; onMade: (made: Made) => void; onClose: () => void }

function NewKeyForm({ initialName, onMade, onClose }: NewKeyFormProps) {
  const { create } = useApiKeyActions()
  const [name, setName] = useState(initialName)
  const [models, setModels] = useState<readonly string[]>()
  const [limit, setLimit] = useState('')
  const [busy, setBusy] = useState(false)
  const [wrong, setWrong] = useState<Wrong>({})
  const [error, setError] = useState<unknown>()

  /** What was said of a field holds until something is changed. */
  const edited =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      set(value)
      setWrong({})
    }
  const send = async () => {
    const parsed = createApiKey.body.shape.name.safeParse(name)
    const cents = limitCents(limit)
    setWrong({
      ...(parsed.error && { name: `A name ${parsed.error.issues[0]?.message}.` }),
      ...(models?.length === 0 && { models: 'Choose at least one model.' }),
      ...(models && models.length > mostModels && { models: `Choose at most ${mostModels} models.` }),
      ...(cents === undefined && { limit: 'Enter dollars and cents, as in 5 or 2.50.' }),
    })
    if (!parsed.success || cents === undefined || busy) return
    if (models && (models.length === 0 || models.length > mostModels)) return
    setBusy(true)
    setError(undefined)
    try {
      onMade({
        name: parsed.data,
        secret: await create({
          name: parsed.data,
          ...(models && { models: [...models] }),
          ...(cents !== null && { daily_limit_cents: cents }),
        }),
      })
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
        <TextField
          label="Name"
          value={name}
          onChange={edited(setName)}
          error={wrong.name}
          placeholder="ci, research-agent"
        />
        <KeyModels chosen={models} onChange={edited(setModels)} error={wrong.models} />
        <TextField
          label="Daily limit"
          value={limit}
          onChange={edited(setLimit)}
          error={wrong.limit}
          unit="USD"
          inputMode="decimal"
          placeholder="No limit"
          hint="The most this key may spend in a day (UTC). Leave empty for no limit."
        />
        {error !== undefined && <ErrorNotice error={error} />}
      </div>
    </Dialog>
  )
}

type Wrong = { name?: string; models?: string; limit?: string }
/** As the service takes. */
const mostModels = 50

type MadeKeyProps = Made & { nextLine: string | undefined; onClose: () => void }

function MadeKey({ name, secret, nextLine, onClose }: MadeKeyProps) {
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
        {nextLine === undefined ? <FirstCall /> : <NextLine line={nextLine} />}
      </div>
    </Dialog>
  )
}

/** The key is pasted where it is neither shown nor kept. */
function NextLine({ line }: { line: string }) {
  return (
    <section aria-label="Use it" className="flex flex-col gap-1.5">
      <h3 className="font-medium">Use it</h3>
      <CopyLine text={line} label="Copy line" />
      <p className="text-small text-faint">Enter this line in the shell, paste the key, and press Enter.</p>
    </section>
  )
}

function FirstCall() {
  return (
    <section aria-label="Try it" className="flex flex-col gap-1.5">
      <h3 className="font-medium">Try it</h3>
      <CopyLine text={exampleOf(window.location.origin)} label="Copy command" />
      <p className="text-small text-faint">
        Put the key into the variable <code className="font-mono">STEWARD_KEY</code> first, so that it stays out of the
        shell’s history. The address is this Steward’s, as long as it runs.
      </p>
    </section>
  )
}

function exampleOf(origin: string): string {
  return `curl -H "Authorization: Bearer $STEWARD_KEY" ${origin}${listSandboxes.path}`
}
