import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useToolServerActions, useToolServers } from '#renderer/api/useToolServers.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { ConfirmDialog } from '#renderer/ui/ConfirmDialog.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import type { ToolServer } from '#shared/contract/toolServers.ts'
import { SettingsPage } from '../SettingsPage.tsx'
import { AddToolServerDialog } from './AddToolServerDialog.tsx'
import { ToolServerCard } from './ToolServerCard.tsx'

/** Third-party MCP servers whose tools models may call in chats. */
export function ToolServersSection() {
  const { data, error, isPending, refetch } = useToolServers()
  const { remove } = useToolServerActions()
  const [adding, setAdding] = useState(false)
  const [removed, setRemoved] = useState<ToolServer>()
  return (
    <SettingsPage
      title="Tool servers"
      description="MCP servers whose tools your chats can use. Programs run in a sandbox. A server and each of its tools are off until you turn them on, and every call needs your approval unless you change that."
      actions={
        <Button variant="primary" icon={Plus} onClick={() => setAdding(true)}>
          Add server
        </Button>
      }
    >
      {isPending ? (
        <SkeletonRows label="Loading tool servers…" count={2} rowClassName="h-20" />
      ) : error ? (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      ) : data.length === 0 ? (
        <p className="rounded-card border border-line px-3.5 py-6 text-center text-muted">
          No tool servers yet. Add one, review its tools, and turn on what you need.
        </p>
      ) : (
        data.map((server) => <ToolServerCard key={server.id} server={server} onRemove={() => setRemoved(server)} />)
      )}
      {adding && <AddToolServerDialog onClose={() => setAdding(false)} />}
      {removed && (
        <ConfirmDialog
          open
          onOpenChange={() => setRemoved(undefined)}
          title={`Remove “${removed.name}”?`}
          description="Its tools, secrets and permissions are deleted, and its program ends. You can’t undo this."
          confirmLabel="Remove server"
          onConfirm={async () => void (await remove(removed.id))}
        />
      )}
    </SettingsPage>
  )
}
