import { ChevronRight, MoreHorizontal } from 'lucide-react'
import { useId, useState } from 'react'
import { useSandboxes } from '#renderer/api/sandboxes/useSandboxes.ts'
import { useToolServerActions } from '#renderer/api/useToolServers.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { Menu } from '#renderer/ui/Menu.tsx'
import { StatusDot } from '#renderer/ui/StatusDot.tsx'
import { useSecurePrompt } from '#renderer/ui/securePromptContext.ts'
import { TimeAgo } from '#renderer/ui/TimeAgo.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import type { ExternalTool, ToolServer } from '#shared/contract/toolServers.ts'
import { describeServerState, describeToolCount, formatEndpoint, listChangedTools } from './describeToolServer.ts'
import { ServedToolRow } from './ServedToolRow.tsx'

type ToolServerCardProps = { server: ToolServer; onRemove: () => void }

export function ToolServerCard({ server, onRemove }: ToolServerCardProps) {
  const { id, name, enabled, tools, fault, secrets, listed_at } = server
  const { turn, test, agree } = useToolServerActions()
  const openSecurePrompt = useSecurePrompt()
  const [busy, setBusy] = useState<'test' | 'turn'>()
  const [open, setOpen] = useState(listChangedTools(server).length > 0)
  const { tone, words } = describeServerState(server)
  const missing = secrets.filter(({ key }) => key === null)

  const working = async (what: 'test' | 'turn', work: () => Promise<unknown>) => {
    setBusy(what)
    try {
      await work()
    } catch (error) {
      notify.failed(error)
    } finally {
      setBusy(undefined)
    }
  }
  const runTest = () =>
    working('test', async () => {
      const tested = await test(id)
      if (tested.fault === null) setOpen(true)
    })
  const giveSecret = async (secret: string) => {
    const end = await openSecurePrompt({ purpose: 'tool_server_secret', tool_server_id: id, secret_name: secret })
    if (end === 'done') await runTest()
  }
  return (
    <section aria-label={name} className="rounded-card border border-line bg-canvas">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-2 px-3.5 py-3">
        <div className="min-w-48 flex-1">
          <p className="flex flex-wrap items-baseline gap-x-2">
            <span className="flex self-center">
              <StatusDot tone={tone} />
            </span>
            <span className="font-medium text-text">{name}</span>
            <span className="text-small text-muted">{words}</span>
          </p>
          <p className="mt-0.5 font-mono text-small break-all text-muted">{formatEndpoint(server)}</p>
          <About server={server} />
          {fault !== null && <p className="mt-1 text-small break-words whitespace-pre-wrap text-negative">{fault}</p>}
        </div>
        <div className="flex shrink-0 items-center gap-1.5">
          {missing.map((item) => (
            <Button key={item.name} size="small" variant="primary" onClick={() => void giveSecret(item.name)}>
              {`Set ${item.name}…`}
            </Button>
          ))}
          <Button size="small" busy={busy === 'test'} onClick={() => void runTest()} aria-label={`Test ${name}`}>
            Test
          </Button>
          <Button
            size="small"
            variant={enabled || listed_at === null ? 'secondary' : 'primary'}
            busy={busy === 'turn'}
            aria-label={`Turn ${enabled ? 'off' : 'on'} ${name}`}
            onClick={() => void working('turn', () => turn(id, !enabled))}
          >
            {enabled ? 'Turn off' : 'Turn on'}
          </Button>
          <Menu
            align="end"
            items={[
              ...secrets.map((secret) => ({
                label: `${secret.key ? 'Replace' : 'Set'} ${secret.name}…`,
                onSelect: () => void giveSecret(secret.name),
              })),
              ...(secrets.length > 0 ? (['separator'] as const) : []),
              { label: 'Remove…', tone: 'danger', onSelect: onRemove },
            ]}
          >
            <IconButton icon={MoreHorizontal} label={`Actions for ${name}`} />
          </Menu>
        </div>
      </div>
      {tools.length > 0 && (
        <ServerTools
          server={server}
          open={open}
          onOpenChange={setOpen}
          onEnable={(chosen) =>
            void working('turn', () =>
              agree(
                id,
                chosen.map((it) => ({ ...it, enabled: true })),
              ),
            )
          }
        />
      )}
    </section>
  )
}

type ServerToolsProps = {
  server: ToolServer
  open: boolean
  onOpenChange: (open: boolean) => void
  onEnable: (tools: readonly ExternalTool[]) => void
}

/** Tools of a server, with a button that enables all disabled tools that need no review. */
function ServerTools({ server, open, onOpenChange, onEnable }: ServerToolsProps) {
  const { id, name, tools } = server
  const listId = useId()
  const changedCount = listChangedTools(server).length
  const off = tools.filter(
    (tool) => tool.alias !== null && !tool.missing && !tool.enabled && tool.changed_from === null,
  )
  return (
    <div className="border-t border-line">
      <div className="flex flex-wrap items-center justify-between gap-2 px-2 py-1.5">
        <button
          type="button"
          aria-expanded={open}
          aria-controls={listId}
          onClick={() => onOpenChange(!open)}
          className="flex h-7 items-center gap-1.5 rounded-control px-1.5 text-small text-muted hover:bg-hover"
        >
          <ChevronRight aria-hidden className={joinClassNames('size-3.5 transition-transform', open && 'rotate-90')} />
          {describeToolCount(server)}
          {changedCount > 0 && <span className="text-caution">{`· ${changedCount} changed`}</span>}
        </button>
        {open && off.length > 1 && (
          <Button size="small" variant="ghost" onClick={() => onEnable(off)}>
            {off.length === tools.length ? `Turn on all ${off.length}` : `Turn on the other ${off.length}`}
          </Button>
        )}
      </div>
      <ul
        id={listId}
        aria-label={`Tools of ${name}`}
        hidden={!open}
        className="divide-y divide-line border-t border-line"
      >
        {open && tools.map((tool) => <ServedToolRow key={tool.name} serverId={id} tool={tool} />)}
      </ul>
    </div>
  )
}

/** Endpoint of a server, its self-reported name and the time of its last listing. */
function About({ server: { place, server_name, protocol_version, listed_at } }: { server: ToolServer }) {
  const { data: sandboxes = [] } = useSandboxes()
  const sandbox = place.kind === 'sandbox' && sandboxes.find(({ id }) => id === place.sandbox_id)
  const where = place.kind === 'http' ? 'HTTP' : sandbox ? `In the sandbox ${sandbox.name}` : 'In a deleted sandbox'
  return (
    <p className="text-small text-faint">
      {[where, server_name && `identifies as ${server_name}`, protocol_version && `MCP ${protocol_version}`]
        .filter(Boolean)
        .join(' · ')}
      {listed_at !== null && (
        <>
          {' · tools updated '}
          <TimeAgo at={listed_at} />
        </>
      )}
    </p>
  )
}
