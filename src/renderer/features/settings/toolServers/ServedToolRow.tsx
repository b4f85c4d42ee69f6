import { useState } from 'react'
import { useToolServerActions } from '#renderer/api/useToolServers.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { Checkbox } from '#renderer/ui/Checkbox.tsx'
import { Select } from '#renderer/ui/Select.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import type { ExternalTool, ToolServerId } from '#shared/contract/toolServers.ts'
import { describeHints } from './describeToolServer.ts'
import { ToolChange } from './ToolChange.tsx'

const askOptions = [
  { value: 'ask', label: 'Ask each time', detail: 'Each call waits for you, in the chat or in Approvals.' },
  { value: 'run', label: 'Run without asking', detail: 'Until the server changes its description.' },
] as const
/** Length above which a description is collapsed. */
const shortCharacters = 240

type ServedToolRowProps = { serverId: ToolServerId; tool: ExternalTool }

/** Description of a server's tool, rendered as text, with a switch that allows it in chats. */
export function ServedToolRow({ serverId, tool }: ServedToolRowProps) {
  const { name, title, description, fault, missing, changed_from: before } = tool
  const { agree } = useToolServerActions()
  const [busy, setBusy] = useState(false)
  const set = async (part: Partial<Pick<ExternalTool, 'enabled' | 'ask'>>) => {
    setBusy(true)
    try {
      await agree(serverId, [{ ...tool, ...part }])
    } catch (error) {
      notify.failed(error)
    } finally {
      setBusy(false)
    }
  }
  const why = fault ?? (missing ? 'The server no longer lists this tool.' : undefined)
  const hints = describeHints(tool)
  return (
    <li aria-label={name} className="flex flex-col gap-1.5 px-3.5 py-2.5">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1">
        <Checkbox
          label={name}
          checked={tool.enabled}
          disabled={busy || why !== undefined || before !== null}
          onChange={(enabled) => void set({ enabled })}
        />
        {tool.enabled && (
          <div className="w-44">
            <Select
              quiet
              label={`Calls to ${name}`}
              labelHidden
              value={tool.ask ? 'ask' : 'run'}
              onChange={(value) => void set({ ask: value === 'ask' })}
              options={askOptions}
              disabled={busy}
            />
          </div>
        )}
      </div>
      <div className="flex flex-col gap-1 pl-6">
        {title !== null && title !== name && <p className="text-small break-words text-text">{title}</p>}
        <Description text={description} />
        {hints !== '' && <p className="text-small text-faint">{hints}</p>}
        {why !== undefined && <p className="text-small text-caution">{why}</p>}
        {before !== null && (
          <ToolChange
            name={name}
            before={before}
            after={tool}
            actions={
              <Button size="small" variant="primary" busy={busy} onClick={() => void set({ enabled: true, ask: true })}>
                {`Allow the new ${name}`}
              </Button>
            }
          />
        )}
      </div>
    </li>
  )
}

function Description({ text }: { text: string }) {
  const [whole, setWhole] = useState(false)
  if (text === '') return <p className="text-small text-faint">No description.</p>
  const isLong = text.length > shortCharacters
  const visible = isLong && !whole ? `${text.slice(0, shortCharacters).trimEnd()}…` : text
  return (
    <div>
      <p className="text-small break-words whitespace-pre-wrap text-muted">{visible}</p>
      {isLong && (
        <button type="button" onClick={() => setWhole(!whole)} className="text-small text-accent hover:underline">
          {whole ? 'Show less' : 'Show all'}
        </button>
      )}
    </div>
  )
}
