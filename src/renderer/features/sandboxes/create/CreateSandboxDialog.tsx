import { useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useRuntimes, useSandboxes } from '#renderer/api/sandboxes/useSandboxes.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import type { Image } from '#shared/contract/images.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { suggestName } from '../sandboxNames.ts'
import type { SandboxActions } from '../useSandboxActions.ts'
import { AdvancedFields } from './AdvancedFields.tsx'
import {
  type CreateForm,
  emptyForm,
  type FieldErrors,
  findRuntime,
  toCreateInput,
  toFieldErrors,
  validateInput,
} from './form.ts'
import { ImageField } from './ImageField.tsx'
import { NetworkField } from './NetworkField.tsx'
import { ResourceFields } from './ResourceFields.tsx'
import { RuntimeNotice } from './RuntimeNotice.tsx'

type CreateSandboxDialogProps = {
  images: readonly Image[]
  create: SandboxActions['create']
  onCreated: (sandbox: Sandbox) => void
  /** Opens the list of images over the dialog. */
  onManageImages: () => void
  onClose: () => void
}

/** Mount only while open. */
export function CreateSandboxDialog({ images, create, onCreated, onManageImages, onClose }: CreateSandboxDialogProps) {
  const { data: runtimes } = useRuntimes()
  const { data: sandboxes } = useSandboxes()
  const [form, setForm] = useState(emptyForm)
  const [errors, setErrors] = useState<FieldErrors>({})
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const fields = useRef<HTMLDivElement>(null)
  const runtime = runtimes && findRuntime(runtimes, form.runtime)
  const suggestion = suggestName(form.name, sandboxes?.map(({ name }) => name) ?? [])
  const usable = runtimes === undefined || runtime?.available === true

  const change = (part: Partial<CreateForm>) => setForm((before) => ({ ...before, ...part }))

  const submit = async () => {
    if (busy || !usable) return
    const input = toCreateInput(form)
    const invalid = validateInput(input)
    flushSync(() => setErrors(invalid))
    setFailure(undefined)
    if (Object.keys(invalid).length > 0) return fields.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
    setBusy(true)
    try {
      onCreated(await create(input))
    } catch (refusal) {
      const atField = toFieldErrors(refusal)
      if (atField) setErrors(atField)
      else setFailure(refusal)
      setBusy(false)
    }
  }

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !busy && onClose()}
      title="New sandbox"
      description="An isolated machine with its own files and processes."
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose} disabled={busy}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={busy} disabled={!usable}>
            Create sandbox
          </Button>
        </>
      }
    >
      <div ref={fields} className="flex flex-col gap-4">
        <TextField
          label="Name"
          placeholder="build-box"
          hint={
            suggestion === undefined ? (
              'Also the host name. Leave empty for a random one.'
            ) : (
              <NameSuggestion name={suggestion} onUse={() => change({ name: suggestion })} />
            )
          }
          error={errors.name}
          value={form.name}
          onChange={(name) => change({ name })}
          autoFocus
        />
        <ImageField
          images={images}
          value={form.image}
          runtime={runtime}
          error={errors.image}
          onChange={(image) => change({ image: image?.name, ...(image && { runtime: image.runtime }) })}
          onManage={onManageImages}
        />
        <ResourceFields form={form} errors={errors} change={change} />
        <NetworkField
          value={form.network}
          runtime={runtime}
          error={errors.network}
          onChange={(network) => change({ network })}
        />
        <AdvancedFields form={form} errors={errors} runtimes={runtimes} runtime={runtime} change={change} />
        {runtimes && <RuntimeNotice runtimes={runtimes} runtime={runtime} />}
        {runtimes && runtimes.length < 2 && errors.runtime && (
          <p className="text-small text-negative">{errors.runtime}</p>
        )}
        {failure !== undefined && <ErrorNotice error={failure} />}
      </div>
    </Dialog>
  )
}

function NameSuggestion({ name, onUse }: { name: string; onUse: () => void }) {
  return (
    <>
      Another sandbox has this name.{' '}
      <button type="button" className="rounded-small font-medium text-accent hover:underline" onClick={onUse}>
        Use {name}
      </button>
    </>
  )
}
