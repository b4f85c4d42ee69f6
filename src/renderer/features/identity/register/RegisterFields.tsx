import { FileJson } from 'lucide-react'
import { useState } from 'react'
import { flushSync } from 'react-dom'
import { Button } from '#renderer/ui/Button.tsx'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { FileButton } from '#renderer/ui/FileButton.tsx'
import { Select } from '#renderer/ui/Select.tsx'
import { TextAreaField } from '#renderer/ui/TextAreaField.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { automatonLimits } from '#shared/contract/automatons.ts'
import type { WalletAccount } from '#shared/contract/wallet.ts'
import { chainLabels } from '../stateLabels.ts'
import { GenesisPromptField } from './GenesisPromptField.tsx'
import { type RegisterForm, validateRegisterForm } from './registerForm.ts'
import { useDraftFile } from './useDraftFile.ts'

type RegisterFieldsProps = {
  form: RegisterForm
  accounts: readonly WalletAccount[]
  busy: boolean
  failure: unknown
  onChange: (part: Partial<RegisterForm>) => void
  onDone: () => Promise<void>
}

/** Fields of a registration. Validates while the user types; missing fields are reported on submit. */
export function RegisterFields({ form, accounts, busy, failure, onChange, onDone }: RegisterFieldsProps) {
  const [all, setAll] = useState(false)
  const draftFile = useDraftFile(accounts, onChange)
  const errors = validateRegisterForm(form, { all })

  const submit = (fields: HTMLFormElement) => {
    flushSync(() => setAll(true))
    const isRight = Object.keys(validateRegisterForm(form, { all: true })).length === 0
    if (!isRight) fields.querySelector<HTMLElement>('[aria-invalid]')?.focus()
    else if (!busy) void onDone()
  }

  return (
    <form
      noValidate
      aria-label="Register automaton"
      onSubmit={(event) => {
        event.preventDefault()
        submit(event.currentTarget)
      }}
      {...draftFile.dropHandlers}
      className={joinClassNames(
        'flex flex-col gap-4 rounded-card',
        draftFile.isOver && 'outline-2 outline-offset-8 outline-accent',
      )}
    >
      <header className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-48 flex-1">
          <h2 className="text-large font-semibold">Register automaton</h2>
          <p className="text-muted">Everything here becomes public and permanent.</p>
        </div>
        <FileButton
          icon={FileJson}
          label="Fill from a JSON file…"
          accept="application/json,.json"
          onFile={draftFile.load}
        />
      </header>
      {draftFile.problems.length > 0 && <Problems problems={draftFile.problems} />}
      <AutomatonFields
        form={form}
        errors={errors}
        accounts={accounts}
        revision={draftFile.revision}
        onChange={onChange}
      />
      {failure !== undefined && <ErrorNotice error={failure} />}
      <div className="flex justify-end border-t border-line pt-4">
        <Button type="submit" variant="primary" busy={busy}>
          Review
        </Button>
      </div>
    </form>
  )
}

type AutomatonFieldsProps = Pick<RegisterFieldsProps, 'form' | 'accounts' | 'onChange'> & {
  errors: ReturnType<typeof validateRegisterForm>
  /** Resets the prompt field, whose text is not part of the form. */
  revision: number
}

function AutomatonFields({ form, errors, accounts, revision, onChange }: AutomatonFieldsProps) {
  return (
    <>
      <TextField
        label="Name"
        placeholder="Research agent"
        value={form.name}
        error={errors.name}
        onChange={(name) => onChange({ name })}
        autoFocus
      />
      <TextAreaField
        label="Bio"
        rows={2}
        hint={`What it does, in up to ${automatonLimits.bioCharacters} characters. Optional.`}
        value={form.bio}
        error={errors.bio}
        onChange={(bio) => onChange({ bio })}
      />
      <Select
        label="Address"
        value={form.accountId ?? ''}
        options={accounts.map(({ id, label, address, chain_type }) => ({
          value: id,
          label: `${label} (${chainLabels[chain_type]}, ${address.slice(0, 8)}…${address.slice(-6)})`,
          detail: address,
        }))}
        hint="The wallet account that signs for the automaton."
        error={errors.accountId}
        onChange={(id) => onChange({ accountId: accounts.find((it) => it.id === id)?.id })}
      />
      <TextField
        label="Creator"
        monospaced
        hint="Your address by default."
        value={form.creator}
        error={errors.creator}
        onChange={(creator) => onChange({ creator })}
      />
      <GenesisPromptField
        key={revision}
        hash={form.promptHash}
        error={errors.promptHash}
        onHash={(promptHash) => onChange({ promptHash })}
      />
      <TextField
        label="Automaton ID"
        monospaced
        hint="Random. Replace it if the automaton already has an ID."
        value={form.automatonId}
        error={errors.automatonId}
        onChange={(automatonId) => onChange({ automatonId })}
      />
    </>
  )
}

function Problems({ problems }: { problems: readonly string[] }) {
  return (
    <div role="alert" className="rounded-card border border-line bg-negative-soft p-3">
      <p className="font-medium">The file was not used:</p>
      <ul className="list-disc pl-5">
        {problems.map((problem) => (
          <li key={problem} className="break-words">
            {problem}
          </li>
        ))}
      </ul>
    </div>
  )
}
