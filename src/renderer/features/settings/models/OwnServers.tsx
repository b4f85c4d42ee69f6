import { MoreHorizontal, Plus, Search } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { ConfirmDialog } from '#renderer/ui/ConfirmDialog.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { Menu } from '#renderer/ui/Menu.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { StatusDot } from '#renderer/ui/StatusDot.tsx'
import { useSecurePrompt } from '#renderer/ui/securePromptContext.ts'
import { notify } from '#renderer/ui/toast.tsx'
import { type ListedModel, unknownPriceVersion } from '#shared/contract/inference.ts'
import type { DiscoveredServer, ModelServer } from '#shared/contract/providers.ts'
import { SettingsGroup } from '../SettingsPage.tsx'
import { AddServerDialog } from './AddServerDialog.tsx'
import { ModelList } from './ModelTable.tsx'
import { findNameConflicts, formatModelCount } from './modelLabels.ts'
import { ServerPriceDialog } from './ServerPriceDialog.tsx'
import { useModelServers, useProviderActions } from './useProviders.ts'

/** Model servers such as Ollama, discovered on request and added by a click. */
export function OwnServers({ models }: { models: readonly ListedModel[] }) {
  const { data, error, isPending, refetch } = useModelServers()
  const { find } = useProviderActions()
  const [discovered, setDiscovered] = useState<DiscoveredServer[]>()
  const [searching, setSearching] = useState(false)
  const [adding, setAdding] = useState(false)

  const search = async () => {
    setSearching(true)
    try {
      setDiscovered(await find())
    } catch (error) {
      notify.failed(error)
    } finally {
      setSearching(false)
    }
  }
  return (
    <SettingsGroup
      title="Your own servers"
      description="Ollama, LM Studio, llama.cpp, OpenRouter, or any server with an OpenAI-compatible address."
      actions={
        <div className="flex flex-wrap gap-2">
          <Button size="small" icon={Search} busy={searching} onClick={() => void search()}>
            Find local models
          </Button>
          <Button size="small" icon={Plus} onClick={() => setAdding(true)}>
            Add server…
          </Button>
        </div>
      }
    >
      <div className="flex flex-col gap-2">
        {discovered && <DiscoveredServers servers={discovered} added={data?.servers ?? []} />}
        {isPending ? (
          <SkeletonRows label="Loading servers…" rowClassName="h-14" />
        ) : error ? (
          <ErrorNotice error={error} onRetry={() => void refetch()} />
        ) : (
          <ServerList servers={data.servers} models={models} />
        )}
      </div>
      {adding && <AddServerDialog onClose={() => setAdding(false)} />}
    </SettingsGroup>
  )
}

type DiscoveredServersProps = { servers: readonly DiscoveredServer[]; added: readonly ModelServer[] }

function DiscoveredServers({ servers, added }: DiscoveredServersProps) {
  const fresh = servers.filter(({ base_url }) => !added.some((it) => it.base_url === base_url))
  if (fresh.length === 0 && servers.some((it) => !it.added)) return null // all discovered servers have been added since
  if (fresh.length === 0) {
    return (
      <p role="status" className="rounded-card border border-line bg-panel px-3.5 py-2.5 text-muted">
        {servers.length === 0
          ? 'No local models found. Start Ollama, LM Studio or llama.cpp on its usual port, then try again.'
          : 'All local servers found are already added.'}
      </p>
    )
  }
  return (
    <ul aria-label="Found on this computer" className="divide-y divide-line rounded-card border border-line bg-panel">
      {fresh.map((server) => (
        <DiscoveredRow key={server.base_url} server={server} />
      ))}
    </ul>
  )
}

const namedAtOnce = 4

function DiscoveredRow({ server: { name, title, base_url, models } }: { server: DiscoveredServer }) {
  const { addServer } = useProviderActions()
  const [busy, setBusy] = useState(false)
  const add = async () => {
    setBusy(true)
    try {
      await addServer({ name, base_url })
      notify.done(`Added ${title}`)
    } catch (error) {
      notify.failed(error)
      setBusy(false)
    }
  }
  const more = models.length > namedAtOnce ? ` and ${models.length - namedAtOnce} more` : ''
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 px-3.5 py-2.5">
      <div className="min-w-48 flex-1">
        <p className="font-medium text-text">{title}</p>
        <p className="text-small break-words text-muted">
          {models.length === 0 ? 'It has no models yet.' : `${models.slice(0, namedAtOnce).join(', ')}${more}`}
        </p>
      </div>
      <Button size="small" variant="primary" busy={busy} onClick={() => void add()} aria-label={`Add ${title}`}>
        Add
      </Button>
    </li>
  )
}

type ServerListProps = { servers: readonly ModelServer[]; models: readonly ListedModel[] }

function ServerList({ servers, models }: ServerListProps) {
  const { removeServer } = useProviderActions()
  const [removed, setRemoved] = useState<ModelServer>()
  const isAdded = (name: string) => servers.some((it) => it.name === name)
  const configured = [...new Set(models.map(({ provider }) => provider))]
    .filter((value) => value.startsWith('local:') && !isAdded(value.slice('local:'.length)))
    .map((it) => it.slice('local:'.length))
  if (servers.length === 0 && configured.length === 0) {
    return <p className="rounded-card border border-line px-3.5 py-6 text-center text-muted">No servers added.</p>
  }
  const of = (name: string) => models.filter(({ provider }) => provider === `local:${name}`)
  return (
    <ul aria-label="Added servers" className="divide-y divide-line rounded-card border border-line bg-canvas">
      {servers.map((server) => (
        <ServerRow
          key={server.id}
          server={server}
          models={of(server.name)}
          conflicts={findNameConflicts(server, models)}
          onRemove={() => setRemoved(server)}
        />
      ))}
      {configured.map((name) => (
        <li key={name} aria-label={name} className="flex flex-col gap-1.5 px-3.5 py-3">
          <p className="font-medium text-text">{name}</p>
          <p className="text-small text-muted">From config.json</p>
          <ModelList of={name} models={of(name)} />
        </li>
      ))}
      {removed && (
        <ConfirmDialog
          open
          onOpenChange={() => setRemoved(undefined)}
          title={`Remove ${removed.name}?`}
          description="Its models are no longer available in Steward. The server itself does not change."
          confirmLabel="Remove server"
          onConfirm={() => removeServer(removed.id)}
        />
      )}
    </ul>
  )
}

type ServerRowProps = {
  server: ModelServer
  models: readonly ListedModel[]
  conflicts: ReturnType<typeof findNameConflicts>
  onRemove: () => void
}

function ServerRow({ server, models, conflicts, onRemove }: ServerRowProps) {
  const { id, name, base_url, key, needs_key } = server
  const openSecurePrompt = useSecurePrompt()
  const { refreshServer } = useProviderActions()
  const [pricing, setPricing] = useState(false)
  const isUnknown = models.some(({ pricing: it }) => it.price_version === unknownPriceVersion)
  const giveKey = () => void openSecurePrompt({ purpose: 'server_key', server_id: id })
  const refresh = async () => {
    try {
      const { models: read } = await refreshServer(id)
      notify.done(`${name}: ${formatModelCount(read.length)}`)
    } catch (error) {
      notify.failed(error)
    }
  }
  return (
    <li aria-label={name} className="flex flex-col gap-1.5 px-3.5 py-3">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-2">
        <div className="flex min-w-48 flex-1 items-start gap-2.5">
          <span className="mt-1.5 flex">
            <StatusDot tone={needs_key ? 'caution' : 'positive'} />
          </span>
          <div className="min-w-0">
            <p className="font-medium text-text">{name}</p>
            <p className="font-mono text-small break-all text-muted">{base_url}</p>
            {needs_key && <p className="text-small text-muted">This server needs a key.</p>}
            {!needs_key && server.models.length === 0 && <p className="text-small text-muted">It lists no models.</p>}
            {isUnknown && (
              <p className="text-small text-caution">Price unknown: costs and limits don’t include its models.</p>
            )}
            {key?.fault != null && <p className="text-small text-negative">{key.fault}</p>}
          </div>
        </div>
        <div className="flex shrink-0 items-center gap-1.5">
          {needs_key && (
            <Button size="small" variant="primary" onClick={giveKey} aria-label={`Add key for ${name}`}>
              Add key…
            </Button>
          )}
          {isUnknown && (
            <Button size="small" onClick={() => setPricing(true)} aria-label={`Set price of ${name}`}>
              Set price…
            </Button>
          )}
          <Menu
            align="end"
            items={[
              { label: 'Change price…', onSelect: () => setPricing(true) },
              { label: 'Refresh models', onSelect: () => void refresh() },
              { label: key ? 'Replace key…' : 'Add key…', onSelect: giveKey },
              'separator',
              { label: 'Remove…', tone: 'danger', onSelect: onRemove },
            ]}
          >
            <IconButton icon={MoreHorizontal} label={`Actions for ${name}`} />
          </Menu>
        </div>
      </div>
      <div className="flex flex-col gap-1.5 pl-4.5">
        {conflicts.length > 0 && (
          <p className="text-small text-muted">
            Unavailable because the name is taken: {conflicts.map(({ model, by }) => `${model} (${by})`).join(', ')}
          </p>
        )}
        <ModelList of={name} models={models} />
      </div>
      {pricing && <ServerPriceDialog server={server} onClose={() => setPricing(false)} />}
    </li>
  )
}
