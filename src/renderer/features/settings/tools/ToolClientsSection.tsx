import { Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { ChoiceChips } from '#renderer/ui/ChoiceChips.tsx'
import { ConfirmDialog } from '#renderer/ui/ConfirmDialog.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import type { ToolClient } from '#shared/contract/toolClients.ts'
import { SnippetBlock } from '../agents/SnippetBlock.tsx'
import { SettingsGroup, SettingsPage } from '../SettingsPage.tsx'
import { buildHostSnippets, type ToolHost, toolHosts } from './hostLines.ts'
import { ToolClientDialog } from './ToolClientDialog.tsx'
import { ToolClientRow } from './ToolClientRow.tsx'
import { type ToolClientList, useToolClientActions, useToolClients } from './useToolClients.ts'

type OpenDialog = { form: ToolClient | { name: string } } | { revoke: ToolClient }

export function ToolClientsSection() {
  const { data, error, isPending, refetch } = useToolClients()
  const { revoke } = useToolClientActions()
  const [host, setHost] = useState<ToolHost>('claude-code')
  const [dialog, setDialog] = useState<OpenDialog>()
  const { clientName } = toolHosts.find(({ id }) => id === host) ?? toolHosts[0]
  return (
    <SettingsPage
      title="Tool clients"
      description="Programs that use Steward’s sandboxes, domains and payments as tools, over MCP. Each gets its own key, with limits. Your policies and approvals apply."
      actions={
        <Button variant="primary" icon={Plus} onClick={() => setDialog({ form: { name: '' } })}>
          New client
        </Button>
      }
    >
      {isPending ? (
        <SkeletonRows label="Loading tool clients…" count={3} rowClassName="h-12" />
      ) : error ? (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      ) : (
        <>
          <Clients clients={data.clients} onAsk={setDialog} />
          <Connect
            list={data}
            host={host}
            onHost={setHost}
            onCreate={() => setDialog({ form: { name: clientName } })}
          />
        </>
      )}
      {dialog && 'form' in dialog && <ToolClientDialog start={dialog.form} onClose={() => setDialog(undefined)} />}
      {dialog && 'revoke' in dialog && (
        <ConfirmDialog
          open
          onOpenChange={() => setDialog(undefined)}
          title={`Revoke “${dialog.revoke.name}”?`}
          description="It loses access at once, and its pending requests are withdrawn. You can’t undo this."
          confirmLabel="Revoke client"
          onConfirm={() => revoke(dialog.revoke.id)}
        />
      )}
    </SettingsPage>
  )
}

function Clients({ clients, onAsk }: { clients: readonly ToolClient[]; onAsk: (request: OpenDialog) => void }) {
  if (clients.length === 0) {
    return (
      <p className="rounded-card border border-line px-3.5 py-6 text-center text-muted">
        No tool clients yet. Create one for each program, so you can limit and revoke them one by one.
      </p>
    )
  }
  return (
    <ul aria-label="Tool clients" className="divide-y divide-line rounded-card border border-line">
      {clients.map((client) => (
        <ToolClientRow
          key={client.id}
          client={client}
          onChange={() => onAsk({ form: client })}
          onRevoke={() => onAsk({ revoke: client })}
        />
      ))}
    </ul>
  )
}

type ConnectProps = { list: ToolClientList; host: ToolHost; onHost: (host: ToolHost) => void; onCreate: () => void }

function Connect({ list, host, onHost, onCreate }: ConnectProps) {
  const { label } = toolHosts.find(({ id }) => id === host) ?? toolHosts[0]
  return (
    <SettingsGroup
      title="Connect a program"
      actions={
        <Button icon={Plus} onClick={onCreate}>
          Client for {label}…
        </Button>
      }
    >
      <div className="flex flex-col gap-3">
        <ChoiceChips
          legend="Program"
          value={host}
          onChange={onHost}
          options={toolHosts.map(({ id, label }) => ({ value: id, label }))}
        />
        {buildHostSnippets(host, list).map((snippet) => (
          <SnippetBlock key={snippet.title} snippet={snippet} />
        ))}
        <p className="text-small text-faint">
          {host === 'stdio' || host === 'claude-desktop'
            ? 'It connects to the running Steward, or starts one without a window. Without a key, it can use everything and asks you before deleting.'
            : 'Steward must be running. STEWARD_TOOLS_KEY is the key of the tool client; model keys don’t work here.'}
        </p>
      </div>
    </SettingsGroup>
  )
}
