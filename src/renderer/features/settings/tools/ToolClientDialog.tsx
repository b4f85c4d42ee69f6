import { useState } from 'react'
import { createToolClient, type ToolClient } from '../../../../shared/contract/toolClients.ts'
import { Button } from '../../../ui/Button.tsx'
import { Checkbox } from '../../../ui/Checkbox.tsx'
import { CopyLine } from '../../../ui/CopyLine.tsx'
import { Dialog } from '../../../ui/Dialog.tsx'
import { ErrorNotice } from '../../../ui/ErrorNotice.tsx'
import { Select } from '../../../ui/Select.tsx'
import { TextField } from '../../../ui/TextField.tsx'
import { readKeyLine } from '../agents/snippets.ts'
import { limitCents } from '../keys/keyLimits.ts'
import { changeOptions, destroyOptions, profileOptions } from './toolWords.ts'
import { useToolClientActions } from './useToolClients.ts'

type Draft = Pick<ToolClient, 'name' | 'profile' | 'policy' | 'dry_run'> & { budget: string }

const microUsdOfCent = 10_000

type ToolClientDialogProps = {
  /** Of the host that it is for; or the client that is changed. */
  start: { name: string } | ToolClient
  onClose: () => void
}

/** Makes a client, then shows its key: it is in this component's state alone, and gone when it closes. Or changes one. */
export function ToolClientDialog({ start, onClose }: ToolClientDialogProps) {
  const [made, setMade] = useState<{ name: string; secret: string }>()
  if (made) return <MadeClient {...made} onClose={onClose} />
  return <ToolClientForm start={start} onMade={setMade} onClose={onClose} />
}

type ToolClientFormProps = ToolClientDialogProps & { onMade: (made: { name: string; secret: string }) => void }

function ToolClientForm({ start, onMade, onClose }: ToolClientFormProps) {
  const { create, change } = useToolClientActions()
  const present = 'id' in start ? start : undefined
  const [draft, setDraft] = useState<Draft>(() => draftOf(start))
  const [busy, setBusy] = useState(false)
  const [wrong, setWrong] = useState<{ name?: string; budget?: string }>({})
  const [error, setError] = useState<unknown>()
  const edit = (part: Partial<Draft>): void => {
    setDraft({ ...draft, ...part })
    setWrong({})
  }
  const send = async (): Promise<void> => {
    const name = createToolClient.body.shape.name.safeParse(draft.name)
    const cents = limitCents(draft.budget)
    setWrong({
      ...(name.error && { name: `A name ${name.error.issues[0]?.message}.` }),
      ...(cents === undefined && { budget: 'Enter dollars and cents, as in 5 or 2.50.' }),
    })
    if (!name.success || cents === undefined || busy) return
    setBusy(true)
    setError(undefined)
    const { profile, policy, dry_run } = draft
    const daily_budget_micro_usd = cents === null ? null : cents * microUsdOfCent
    const given = { name: name.data, profile, policy, dry_run, daily_budget_micro_usd }
    try {
      if (present) {
        await change({ clientId: present.id, ...given })
        onClose()
      } else {
        onMade({ name: given.name, secret: (await create(given)).key })
      }
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  const reads = draft.profile === 'read-only'
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !busy && onClose()}
      title={present ? `Change ${present.name}` : 'New tool client'}
      description={present ? 'It holds for its next call.' : 'Name it after the program that will use it.'}
      width="narrow"
      onSubmit={() => void send()}
      footer={
        <>
          <Button onClick={onClose} disabled={busy}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={busy}>
            {present ? 'Save' : 'Create client'}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
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
            hint="Credits for models and USDC payments together, per day (UTC). Your other limits hold too."
          />
        )}
        {!reads && (
          <Checkbox
            checked={draft.dry_run}
            onChange={(dry_run) => edit({ dry_run })}
            label="Dry run: check calls, and do none"
          />
        )}
        {error !== undefined && <ErrorNotice error={error} />}
      </div>
    </Dialog>
  )
}

function draftOf(start: ToolClientDialogProps['start']): Draft {
  if (!('id' in start)) {
    return {
      name: start.name,
      profile: 'all',
      policy: { changes: 'allow', destroys: 'ask' },
      dry_run: false,
      budget: '',
    }
  }
  const { name, profile, policy, dry_run, daily_budget_micro_usd: budget } = start
  return { name, profile, policy, dry_run, budget: budget === null ? '' : (budget / 1_000_000).toFixed(2) }
}

function MadeClient({ name, secret, onClose }: { name: string; secret: string; onClose: () => void }) {
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Client created: ${name}`}
      description="Copy its key now. You won’t see it again."
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
        <section aria-label="Use it" className="flex flex-col gap-1.5">
          <h3 className="font-medium">Use it</h3>
          <CopyLine text={readKeyLine} label="Copy line" />
          <p className="text-small text-faint">
            Enter this line in the shell, paste the key, and press Enter. Then use the lines for your program.
          </p>
        </section>
      </div>
    </Dialog>
  )
}
