import { useState } from 'react'
import { Checkbox } from '#renderer/ui/Checkbox.tsx'
import { CopyLine } from '#renderer/ui/CopyLine.tsx'
import { FormDialog } from '#renderer/ui/FormDialog.tsx'
import { Select } from '#renderer/ui/Select.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { createToolClient, type ToolClient } from '#shared/contract/toolClients.ts'
import { formatUsdInput } from '#shared/money/moneyText.ts'
import { readKeyLine } from '../agents/snippets.ts'
import { parseLimitCents } from '../keys/keyLimits.ts'
import { KeyStep, NewSecretDialog } from '../NewSecretDialog.tsx'
import { changeOptions, destroyOptions, profileOptions } from './describePolicy.ts'
import { useToolClientActions } from './useToolClients.ts'

type Draft = Pick<ToolClient, 'name' | 'profile' | 'policy' | 'dry_run'> & { budget: string }

const microUsdOfCent = 10_000

type ToolClientDialogProps = {
  /** Name of the MCP host that the client is created for, or the client to edit. */
  start: { name: string } | ToolClient
  onClose: () => void
}

/**
 * Dialog that creates a tool client and shows its key once, or edits a client. The key exists only in this component's
 * state and is discarded when it unmounts.
 */
export function ToolClientDialog({ start, onClose }: ToolClientDialogProps) {
  const [created, setCreated] = useState<{ name: string; secret: string }>()
  if (created) return <CreatedClientView {...created} onClose={onClose} />
  return <ToolClientForm start={start} onCreated={setCreated} onClose={onClose} />
}

type ToolClientFormProps = ToolClientDialogProps & { onCreated: (created: { name: string; secret: string }) => void }

function ToolClientForm({ start, onCreated, onClose }: ToolClientFormProps) {
  const { create, change } = useToolClientActions()
  const present = 'id' in start ? start : undefined
  const [draft, setDraft] = useState<Draft>(() => toClientDraft(start))
  const [wrong, setWrong] = useState<{ name?: string; budget?: string }>({})
  const edit = (part: Partial<Draft>): void => {
    setDraft({ ...draft, ...part })
    setWrong({})
  }
  const send = () => {
    const name = createToolClient.body.shape.name.safeParse(draft.name)
    const cents = parseLimitCents(draft.budget)
    setWrong({
      ...(name.error && { name: `A name ${name.error.issues[0]?.message}.` }),
      ...(cents === undefined && { budget: 'Enter dollars and cents, such as 5 or 2.50.' }),
    })
    return name.success && cents !== undefined && save(name.data, cents)
  }
  const save = async (name: string, cents: number | null): Promise<void> => {
    const { profile, policy, dry_run } = draft
    const daily_budget_micro_usd = cents === null ? null : cents * microUsdOfCent
    const input = { name, profile, policy, dry_run, daily_budget_micro_usd }
    if (!present) return onCreated({ name, secret: (await create(input)).key })
    await change({ clientId: present.id, ...input })
    onClose()
  }
  const reads = draft.profile === 'read-only'
  return (
    <FormDialog
      title={present ? `Change ${present.name}` : 'New tool client'}
      description={present ? 'Applies from the next call.' : 'Name it after the program that will use it.'}
      action={present ? 'Save' : 'Create client'}
      onSend={send}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={draft.name}
        onChange={(name) => edit({ name })}
        error={wrong.name}
        placeholder="claude-code, research-agent"
      />
      <Select
        label="Tools"
        value={draft.profile}
        onChange={(profile) => edit({ profile })}
        options={profileOptions}
        hint={profileOptions.find(({ value }) => value === draft.profile)?.detail}
      />
      {!reads && (
        <div className="grid grid-cols-2 gap-3 max-narrow:grid-cols-1">
          <Select
            label="Changes"
            value={draft.policy.changes}
            onChange={(changes) => edit({ policy: { ...draft.policy, changes } })}
            options={changeOptions}
          />
          <Select
            label="Deletions"
            value={draft.policy.destroys}
            onChange={(destroys) => edit({ policy: { ...draft.policy, destroys } })}
            options={destroyOptions}
          />
        </div>
      )}
      {!reads && (
        <TextField
          label="Daily budget"
          value={draft.budget}
          onChange={(budget) => edit({ budget })}
          error={wrong.budget}
          unit="USD"
          inputMode="decimal"
          placeholder="No limit"
          hint="Credits for models and USDC payments together, per day (UTC). Your other limits also apply."
        />
      )}
      {!reads && (
        <Checkbox
          checked={draft.dry_run}
          onChange={(dry_run) => edit({ dry_run })}
          label="Dry run (validate calls without running them)"
        />
      )}
    </FormDialog>
  )
}

/** Default in US dollars per day. An empty field means no budget. */
const proposedBudget = '5'

function toClientDraft(start: ToolClientDialogProps['start']): Draft {
  if (!('id' in start)) {
    return {
      name: start.name,
      profile: 'all',
      policy: { changes: 'allow', destroys: 'ask' },
      dry_run: false,
      budget: proposedBudget,
    }
  }
  const { name, profile, policy, dry_run, daily_budget_micro_usd: budget } = start
  return { name, profile, policy, dry_run, budget: budget === null ? '' : formatUsdInput(budget) }
}

function CreatedClientView({ name, secret, onClose }: { name: string; secret: string; onClose: () => void }) {
  return (
    <NewSecretDialog
      title={`Client created: ${name}`}
      description="Copy its key now. You won’t see it again."
      secret={secret}
      onClose={onClose}
    >
      <KeyStep
        title="Use it"
        hint="Enter this line in the shell, paste the key, and press Enter. Then use the lines for your program."
      >
        <CopyLine text={readKeyLine} label="Copy line" />
      </KeyStep>
    </NewSecretDialog>
  )
}
