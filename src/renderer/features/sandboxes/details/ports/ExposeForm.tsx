import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { Select } from '#renderer/ui/Select.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { useTouchedForm } from '#renderer/ui/unsaved/useUnsaved.ts'
import {
  createPortForm,
  type PortErrors,
  type PortForm,
  toPortErrors,
  toPortInput,
  validatePortForm,
} from './portForm.ts'
import type { PortActions } from './usePorts.ts'

type ExposeFormProps = { port: string; expose: PortActions['expose']; onClose: () => void }

const visibilities = [
  { value: 'private', label: 'Private', detail: 'Needs your API key or a token you share.' },
  { value: 'public', label: 'Public', detail: 'Anyone who can reach this computer.' },
] as const

/** Mount only while open. */
export function ExposeForm({ port, expose, onClose }: ExposeFormProps) {
  const { onInput } = useTouchedForm()
  const [form, setForm] = useState(() => createPortForm(port))
  const [errors, setErrors] = useState<PortErrors>({})
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const change = (part: Partial<PortForm>) => setForm((before) => ({ ...before, ...part }))

  const submit = async () => {
    const invalid = validatePortForm(form)
    setErrors(invalid)
    setFailure(undefined)
    if (busy || Object.keys(invalid).length > 0) return
    setBusy(true)
    try {
      await expose(toPortInput(form))
      onClose()
    } catch (refusal) {
      const atField = toPortErrors(refusal)
      if (atField) setErrors(atField)
      else setFailure(refusal)
      setBusy(false)
    }
  }

  return (
    <form
      noValidate
      onInput={onInput}
      aria-label="Expose a port"
      className="mb-2 flex flex-col gap-3 rounded-card border border-line bg-panel p-3"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
      onKeyDown={(event) => event.key === 'Escape' && !busy && onClose()}
    >
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label="Port"
          inputMode="numeric"
          placeholder="3000"
          error={errors.port}
          value={form.port}
          onChange={(it) => change({ port: it })}
          autoFocus
        />
        <Select
          label="Access"
          options={visibilities}
          value={form.visibility}
          onChange={(visibility) => change({ visibility })}
        />
      </div>
      <TextField
        label="Name"
        placeholder="my-app"
        hint="Used in the address instead of port and ID. Optional."
        error={errors.subdomain}
        value={form.subdomain}
        onChange={(subdomain) => change({ subdomain })}
      />
      {failure !== undefined && <ErrorNotice error={failure} />}
      <div className="flex justify-end gap-2">
        <Button size="small" onClick={onClose} disabled={busy}>
          Cancel
        </Button>
        <Button size="small" type="submit" variant="primary" busy={busy}>
          Expose
        </Button>
      </div>
    </form>
  )
}
