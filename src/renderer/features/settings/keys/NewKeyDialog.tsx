import { useState } from 'react'
import { CopyLine } from '#renderer/ui/CopyLine.tsx'
import { FormDialog } from '#renderer/ui/FormDialog.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { createApiKey } from '#shared/contract/accounts.ts'
import { listSandboxes } from '#shared/contract/sandboxes.ts'
import { KeyStep, NewSecretDialog } from '../NewSecretDialog.tsx'
import { KeyModels } from './KeyModels.tsx'
import { parseLimitCents } from './keyLimits.ts'
import { useApiKeyActions } from './useApiKeys.ts'

/**
 * Dialog that creates an API key and shows it once. The key exists only in this component's state and is discarded when
 * it unmounts.
 */
export function NewKeyDialog({ initialName = '', nextLine, onClose }: NewKeyDialogProps) {
  const [created, setCreated] = useState<CreatedKey>()
  if (created) return <CreatedKeyView {...created} nextLine={nextLine} onClose={onClose} />
  return <NewKeyForm initialName={initialName} onCreated={setCreated} onClose={onClose} />
}

type NewKeyDialogProps = {
  /** Name of the program that will use the key, if known. */
  initialName?: string
  /** Command to paste the key into. Defaults to a sample call. */
  nextLine?: string
  onClose: () => void
}

type CreatedKey = { name: string; secret: string }
type NewKeyFormProps = { initialName: string; onCreated: (created: CreatedKey) => void; onClose: () => void }

function NewKeyForm({ initialName, onCreated, onClose }: NewKeyFormProps) {
  const { create } = useApiKeyActions()
  const [name, setName] = useState(initialName)
  const [models, setModels] = useState<readonly string[]>()
  const [limit, setLimit] = useState(proposedLimit)
  const [wrong, setWrong] = useState<Wrong>({})

  /** Clears the error of a field on its next change. */
  const edited =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      set(value)
      setWrong({})
    }
  const send = () => {
    const parsed = createApiKey.body.shape.name.safeParse(name)
    const cents = parseLimitCents(limit)
    const errors = {
      ...(parsed.error && { name: `A name ${parsed.error.issues[0]?.message}.` }),
      ...(models?.length === 0 && { models: 'Choose at least one model.' }),
      ...(models && models.length > maxModels && { models: `Choose at most ${maxModels} models.` }),
      ...(cents === undefined && { limit: 'Enter dollars and cents, such as 5 or 2.50.' }),
    }
    setWrong(errors)
    if (!parsed.success || cents === undefined || Object.keys(errors).length > 0) return false
    return make(parsed.data, cents)
  }
  const make = async (keyName: string, cents: number | null) => {
    const secret = await create({
      name: keyName,
      ...(models && { models: [...models] }),
      ...(cents !== null && { daily_limit_cents: cents }),
    })
    onCreated({ name: keyName, secret })
  }

  return (
    <FormDialog
      title="New API key"
      description="Name it after the program that will use it."
      action="Create key"
      onSend={send}
      onClose={onClose}
    >
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
        hint="Maximum this key can spend per day (UTC). Leave empty for no limit."
      />
    </FormDialog>
  )
}

/** Default in US dollars per day. An empty field means no limit. */
const proposedLimit = '5'

type Wrong = { name?: string; models?: string; limit?: string }
/** Maximum number accepted by the service. */
const maxModels = 50

type CreatedKeyViewProps = CreatedKey & { nextLine: string | undefined; onClose: () => void }

function CreatedKeyView({ name, secret, nextLine, onClose }: CreatedKeyViewProps) {
  return (
    <NewSecretDialog
      title={`Key created: ${name}`}
      description="Copy it now. You won’t see it again."
      secret={secret}
      onClose={onClose}
    >
      {nextLine === undefined ? <FirstCall /> : <NextLine line={nextLine} />}
    </NewSecretDialog>
  )
}

/** Command into which the key is pasted without being displayed or stored. */
function NextLine({ line }: { line: string }) {
  return (
    <KeyStep title="Use it" hint="Enter this line in the shell, paste the key, and press Enter.">
      <CopyLine text={line} label="Copy line" />
    </KeyStep>
  )
}

function FirstCall() {
  const hint = (
    <>
      Set <code className="font-mono">STEWARD_KEY</code> to the key first, so that it stays out of your shell history.
      The address works while Steward runs.
    </>
  )
  return (
    <KeyStep title="Try it" hint={hint}>
      <CopyLine text={buildExample(window.location.origin)} label="Copy command" />
    </KeyStep>
  )
}

function buildExample(origin: string): string {
  return `curl -H "Authorization: Bearer $STEWARD_KEY" ${origin}${listSandboxes.path}`
}
