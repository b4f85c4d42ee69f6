import { useState } from 'react'
import { ChoiceChips } from '#renderer/ui/ChoiceChips.tsx'
import { FormDialog } from '#renderer/ui/FormDialog.tsx'
import { useSecurePrompt } from '#renderer/ui/securePromptContext.ts'
import { TextField } from '#renderer/ui/TextField.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { ModelServerName, ModelServerUrl } from '#shared/contract/providers.ts'
import { useProviderActions } from './useProviders.ts'

type Wrong = { name?: string; url?: string }

/**
 * Dialog that adds a model server by URL. If the server requires a key to list its models, a secure prompt for it
 * follows.
 */
export function AddServerDialog({ onClose }: { onClose: () => void }) {
  const { addServer } = useProviderActions()
  const openSecurePrompt = useSecurePrompt()
  const [name, setName] = useState('')
  const [url, setUrl] = useState('')
  const [billing, setBilling] = useState<'free' | 'paid'>()
  const selectedBilling = billing ?? (isLikelyFree(url) ? 'free' : 'paid')
  const [wrong, setWrong] = useState<Wrong>({})

  const send = () => {
    const parsedName = ModelServerName.safeParse(
      name
        .trim()
        .toLowerCase()
        .replaceAll(/[\s._]+/g, '-'),
    )
    const parsedUrl = ModelServerUrl.safeParse(url)
    setWrong({
      ...(parsedName.error && { name: `The name ${parsedName.error.issues[0]?.message}.` }),
      ...(parsedUrl.error && { url: `The address ${parsedUrl.error.issues[0]?.message}.` }),
    })
    return (
      parsedName.success &&
      parsedUrl.success &&
      add({ name: parsedName.data, base_url: parsedUrl.data, free: selectedBilling === 'free' })
    )
  }
  const add = async (server: Parameters<typeof addServer>[0]) => {
    const added = await addServer(server)
    onClose()
    if (added.needs_key) await openSecurePrompt({ purpose: 'server_key', server_id: added.id })
    else notify.done(`Added ${added.name}`)
  }
  return (
    <FormDialog
      title="Add a model server"
      description="Any server with an OpenAI-compatible chat completions API. If it needs a key, Steward asks for it next."
      action="Add server"
      onSend={send}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        onChange={(text) => {
          setName(text)
          setWrong({})
        }}
        error={wrong.name}
        placeholder="workstation"
        hint="Lowercase letters, digits and hyphens."
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
      <div>
        <p className="mb-1.5 font-medium">Cost of its models</p>
        <ChoiceChips
          legend="Cost of its models"
          options={[
            { value: 'free', label: 'Free, runs on your own computers' },
            { value: 'paid', label: 'Paid' },
          ]}
          value={selectedBilling}
          onChange={setBilling}
        />
        {selectedBilling === 'paid' && (
          <p className="mt-1.5 text-small text-faint">
            Steward reads the prices if the server lists them. Otherwise, set them afterwards so that your limits apply.
          </p>
        )}
      </div>
    </FormDialog>
  )
}

/** Whether the address is probably on this computer or the local network, where models are usually free. */
function isLikelyFree(url: string): boolean {
  return /^http:\/\//i.test(url) || url === ''
}
