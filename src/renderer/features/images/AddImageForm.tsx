import { useState } from 'react'
import { Button } from '../../ui/Button.tsx'
import { ErrorNotice } from '../../ui/ErrorNotice.tsx'
import { Select } from '../../ui/Select.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { useTouchedForm } from '../../ui/unsaved/useUnsaved.ts'
import {
  type ImageErrors,
  type ImageForm,
  type SourceKind,
  toImageErrors,
  toImageInput,
  validateImageInput,
} from './imageForm.ts'

type AddImageFormProps = {
  initial: ImageForm
  /** Not set while unknown. */
  sources: ReadonlySet<SourceKind> | undefined
  /** Reason why some sources are unavailable. */
  missing: string | undefined
  add: (form: ImageForm) => Promise<void>
  onClose: () => void
}

const kinds: readonly { value: SourceKind; label: string; detail: string }[] = [
  { value: 'system', label: 'This computer’s distribution', detail: 'Installed from its mirrors, with your packages.' },
  {
    value: 'archive',
    label: 'A file on this computer',
    detail: 'A docker save or OCI archive, or a root file system tar.',
  },
  { value: 'registry', label: 'A registry', detail: 'Pulled from a container registry.' },
]

/** Mount only while open. */
export function AddImageForm({ initial, sources, missing, add, onClose }: AddImageFormProps) {
  const { onInput } = useTouchedForm()
  const [form, setForm] = useState<ImageForm>(() => ({ ...initial, kind: chooseUsable(initial.kind, sources) }))
  const [errors, setErrors] = useState<ImageErrors>({})
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const change = (part: Partial<ImageForm>) => setForm((before) => ({ ...before, ...part }))

  const submit = async () => {
    const invalid = validateImageInput(toImageInput(form))
    setErrors(invalid)
    setFailure(undefined)
    if (busy || Object.keys(invalid).length > 0) return
    setBusy(true)
    try {
      await add(form)
    } catch (refusal) {
      const atField = toImageErrors(refusal, form.kind)
      if (atField) setErrors(atField)
      else setFailure(refusal)
      setBusy(false)
    }
  }

  return (
    <form
      noValidate
      onInput={onInput}
      aria-label="Add an image"
      className="flex flex-col gap-3 rounded-card border border-line bg-panel p-3"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label="Name"
          placeholder="tools"
          error={errors.name}
          value={form.name}
          onChange={(name) => change({ name })}
          autoFocus
        />
        <Select
          label="From"
          value={form.kind}
          options={kinds.map((kind) => ({ ...kind, disabled: sources !== undefined && !sources.has(kind.value) }))}
          onChange={(kind) => change({ kind })}
          error={errors.kind}
          hint={missing}
        />
      </div>
      {form.kind === 'system' && (
        <TextField
          label="Packages"
          monospaced
          placeholder="jq git build-essential"
          hint="Installed on top of a minimal system. Optional."
          error={errors.packages}
          value={form.packages}
          onChange={(packages) => change({ packages })}
        />
      )}
      {form.kind === 'archive' && (
        <TextField
          label="File"
          monospaced
          placeholder="/home/you/image.tar"
          error={errors.path}
          value={form.path}
          onChange={(path) => change({ path })}
        />
      )}
      {form.kind === 'registry' && (
        <TextField
          label="Reference"
          monospaced
          placeholder="docker.io/library/debian:12"
          error={errors.reference}
          value={form.reference}
          onChange={(reference) => change({ reference })}
        />
      )}
      {failure !== undefined && <ErrorNotice error={failure} />}
      <div className="flex justify-end gap-2">
        <Button size="small" onClick={onClose} disabled={busy}>
          Cancel
        </Button>
        <Button size="small" type="submit" variant="primary" busy={busy}>
          Add
        </Button>
      </div>
    </form>
  )
}

function chooseUsable(kind: SourceKind, sources: ReadonlySet<SourceKind> | undefined): SourceKind {
  if (sources === undefined || sources.has(kind)) return kind
  return kinds.find(({ value }) => sources.has(value))?.value ?? kind
}
