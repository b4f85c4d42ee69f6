import { useState } from 'react'
import { ModelServerName, ModelServerUrl } from '../../../../shared/contract/providers.ts'
import { Button } from '../../../ui/Button.tsx'
import { Dialog } from '../../../ui/Dialog.tsx'
import { ErrorNotice } from '../../../ui/ErrorNotice.tsx'
import { useSheet } from '../../../ui/sheetContext.ts'
import { TextField } from '../../../ui/TextField.tsx'
import { notify } from '../../../ui/toast.tsx'
import { useProviderActions } from './useProviders.ts'

type Wrong = { name?: string; url?: string }

/** A server by its address. One that wants a key to list its models is asked for it on a sheet, right after. */
export function AddServerDialog({ onClose }: { onClose: () => void }) {
  const { addServer } = useProviderActions()
  const openSheet = useSheet()
  const [name, setName] = useState('')
  const [url, setUrl] = useState('')
  const [wrong, setWrong] = useState<Wrong>({})
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()

  const send = async () => {
    const givenName = ModelServerName.safeParse(name)
    const givenUrl = ModelServerUrl.safeParse(url)
    setWrong({
      ...(givenName.error && { name: `The name ${givenName.error.issues[0]?.message}.` }),
      ...(givenUrl.error && { url: `The address ${givenUrl.error.issues[0]?.message}.` }),
    })
    if (!givenName.success || !givenUrl.success || busy) return
    setBusy(true)
    setError(undefined)
    try {
      const added = await addServer({ name: givenName.data, base_url: givenUrl.data })
      onClose()
      if (added.needs_key) await openSheet({ purpose: 'server_key', server_id: added.id })
      else notify.done(`Added ${added.name}`)
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !busy && onClose()}
      title="Add a model server"
      description="Any server that speaks OpenAI’s chat completions. If it needs a key, Steward asks for it next."
      width="narrow"
      onSubmit={() => void send()}
      footer={
        <>
          <Button onClick={onClose} disabled={busy}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={busy}>
            Add server
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <TextField
          label="Name"
          value={name}
          onChange={(text) => {
            setName(text)
            setWrong({})
          }}
          error={wrong.name}
          placeholder="workstation"
        />
        <TextField
          label="Address"
          value={url}
          onChange={(text) => {
            setUrl(text)
            setWrong({})
          }}
          error={wrong.url}
          monospaced
          placeholder="http://192.168.1.20:8000/v1"
          hint="Usually ends with /v1."
        />
        {error !== undefined && <ErrorNotice error={error} />}
      </div>
    </Dialog>
  )
}
