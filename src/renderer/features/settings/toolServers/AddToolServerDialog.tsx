import { useState } from 'react'
import { useSandboxes } from '#renderer/api/sandboxes/useSandboxes.ts'
import { useToolServerActions } from '#renderer/api/useToolServers.ts'
import { ChoiceChips } from '#renderer/ui/ChoiceChips.tsx'
import { FormDialog } from '#renderer/ui/FormDialog.tsx'
import { Select } from '#renderer/ui/Select.tsx'
import { useSecurePrompt } from '#renderer/ui/securePromptContext.ts'
import { TextField } from '#renderer/ui/TextField.tsx'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { SecretName, ToolServerName, type ToolServerTransport, toolServerLimits } from '#shared/contract/toolServers.ts'

type Draft = {
  name: string
  kind: ToolServerTransport['kind']
  sandbox: string
  command: string
  url: string
  secrets: string
}
type Wrong = Partial<Record<'name' | 'place' | 'secrets', string>>
const empty: Draft = { name: '', kind: 'sandbox', sandbox: '', command: '', url: '', secrets: '' }

/** Dialog that adds an MCP server, either a program in a sandbox or a URL. Secure prompts for its secrets follow. */
export function AddToolServerDialog({ onClose }: { onClose: () => void }) {
  const { add, test } = useToolServerActions()
  const { data: sandboxes = [] } = useSandboxes()
  const openSecurePrompt = useSecurePrompt()
  const [draft, setDraft] = useState(empty)
  const [wrong, setWrong] = useState<Wrong>({})
  const edit = (part: Partial<Draft>): void => {
    setDraft({ ...draft, ...part })
    setWrong({})
  }
  const sandbox = sandboxes.find(({ id }) => id === draft.sandbox) ?? sandboxes[0]
  const inSandbox = draft.kind === 'sandbox'

  const send = (): Promise<void> | false => {
    const name = ToolServerName.safeParse(draft.name)
    const place = toServerPlace(draft, sandbox?.id)
    const secrets = parseSecretNames(draft.secrets)
    setWrong({
      ...(name.error && { name: `The name ${name.error.issues[0]?.message}.` }),
      ...(typeof place === 'string' && { place }),
      ...(typeof secrets === 'string' && { secrets }),
    })
    if (!name.success || typeof place === 'string' || typeof secrets === 'string') return false
    return addServer({ name: name.data, place, secret_names: secrets })
  }
  const addServer = async (server: Parameters<typeof add>[0]): Promise<void> => {
    const { id, secrets } = await add(server)
    onClose()
    for (const { name: secret_name } of secrets) {
      const end = await openSecurePrompt({ purpose: 'tool_server_secret', tool_server_id: id, secret_name })
      if (end === 'cancelled') return
    }
    await test(id) // errors are shown in the server's row
  }
  return (
    <FormDialog
      title="Add a tool server"
      description="Steward connects and lists its tools. Nothing is turned on yet."
      action="Add server"
      onSend={send}
      onClose={onClose}
    >
      <div className="flex flex-col gap-3">
        <TextField
          label="Name"
          value={draft.name}
          onChange={(name) => edit({ name })}
          error={wrong.name}
          placeholder="files"
          hint={`Prefix of its tool names: ${draft.name || 'files'}__read_file.`}
        />
        <ChoiceChips
          legend="Kind"
          value={draft.kind}
          onChange={(kind) => edit({ kind })}
          options={[
            { value: 'sandbox', label: 'Program in a sandbox' },
            { value: 'http', label: 'Address (HTTP)' },
          ]}
        />
        {inSandbox ? (
          <ProgramFields
            command={draft.command}
            fault={wrong.place}
            sandbox={sandbox}
            sandboxes={sandboxes}
            onChange={edit}
          />
        ) : (
          <TextField
            label="Address"
            value={draft.url}
            onChange={(url) => edit({ url })}
            error={wrong.place}
            monospaced
            placeholder="https://mcp.example.com/mcp"
            hint="https, or http on this computer. Private networks are not allowed."
          />
        )}
        <TextField
          label={inSandbox ? 'Secret variables (optional)' : 'Secret headers (optional)'}
          value={draft.secrets}
          onChange={(secrets) => edit({ secrets })}
          error={wrong.secrets}
          monospaced
          placeholder={inSandbox ? 'API_TOKEN' : 'Authorization'}
          hint="Names only, separated by commas. Steward asks for the values next, in a protected form."
        />
      </div>
    </FormDialog>
  )
}

type ProgramFieldsProps = {
  command: string
  fault: string | undefined
  /** Selected sandbox, if any. */
  sandbox: Sandbox | undefined
  sandboxes: readonly Sandbox[]
  onChange: (part: Partial<Draft>) => void
}

function ProgramFields({ command, fault, sandbox, sandboxes, onChange }: ProgramFieldsProps) {
  return (
    <>
      {sandbox ? (
        <Select
          label="Sandbox"
          value={sandbox.id as string}
          onChange={(id) => onChange({ sandbox: id })}
          options={sandboxes.map(({ id, name, status }) => ({
            value: id as string,
            label: name,
            detail: status,
          }))}
        />
      ) : (
        <p className="text-muted">Create a sandbox first. The program runs in it.</p>
      )}
      <TextField
        label="Command"
        value={command}
        onChange={(text) => onChange({ command: text })}
        error={fault}
        monospaced
        placeholder="npx -y @modelcontextprotocol/server-filesystem /root"
        hint="Has the sandbox’s access, and none to this computer."
      />
    </>
  )
}

/** @returns the error message if the input is invalid */
function toServerPlace(
  { kind, command, url }: Draft,
  sandboxId: string | undefined,
): Parameters<ReturnType<typeof useToolServerActions>['add']>[0]['place'] | string {
  if (kind === 'http') {
    return /^https?:\/\/\S+$/i.test(url.trim())
      ? { kind, url: url.trim() }
      : 'Enter an address that starts with https://.'
  }
  if (sandboxId === undefined) return 'Create a sandbox first.'
  return command.trim() === ''
    ? 'Enter the command that starts the server.'
    : { kind, sandbox_id: sandboxId, command: command.trim() }
}

/** @returns the error message if the input is invalid */
function parseSecretNames(text: string): string[] | string {
  const names = text
    .split(',')
    .map((it) => it.trim())
    .filter((it) => it !== '')
  if (names.length > toolServerLimits.secrets) return `At most ${toolServerLimits.secrets} names.`
  const bad = names.find((it) => !SecretName.safeParse(it).success)
  return bad === undefined ? names : `“${bad}” is not a valid name. Use letters, digits, hyphens and underscores.`
}
