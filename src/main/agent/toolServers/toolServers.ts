import { AppError } from '#shared/appError.ts'
import {
  type ToolServer,
  ToolServerId,
  type ToolServerTransport,
  toolServerLimits,
} from '#shared/contract/toolServers.ts'
import { toIsoTime } from '#shared/time.ts'
import { person, steward } from '../base/actors.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { ProviderKeyStore } from '../providers/providerKeyStore.ts'
import { parseServerAddress } from './guardedFetch.ts'
import type { ListedTool } from './parseToolList.ts'
import { assertSecretNames, toSecretSlot, validateSecret } from './serverSecrets.ts'
import type { ToolCatalog } from './toolCatalog.ts'
import {
  isSame,
  isUsable,
  type StoredServer,
  type StoredTool,
  type ToolServerRepository,
  unasked,
} from './toolServerRepository.ts'

/** External MCP servers that the user added. Servers and tools are off by default. */
export type ToolServers = {
  list(): ToolServer[]
  /** @throws AppError `tool-server/not-found` */
  get(id: ToolServerId): ToolServer
  /** @throws AppError `tool-server/exists`, `tool-server/too-many`, `tool-server/address`, `request/invalid` */
  add(server: { name: string; transport: ToolServerTransport; secrets: readonly string[] }): ToolServer
  /** @throws AppError `tool-server/not-found` */
  setEnabled(id: ToolServerId, enabled: boolean): Promise<ToolServer>
  /** Reconnects and lists the tools. Errors are reported in `fault`. @throws AppError `tool-server/not-found` */
  test(id: ToolServerId, signal: AbortSignal): Promise<ToolServer>
  /** @throws AppError `tool-server/changed`, `tool-server/unusable` */
  agree(id: ToolServerId, tools: readonly ToolChoice[]): ToolServer
  /** @throws AppError `tool-server/secret-not-found`, `provider-key/invalid`, `wallet/keychain-…` */
  setSecret(id: ToolServerId, name: string, value: string): Promise<void>
  /** Turns off servers whose program ran in a deleted sandbox, with the reason in `fault`. */
  disableForSandbox(sandbox: { id: string; name: string }): void
  /** Returns the sandboxes in which programs of servers run. */
  sandboxIds(): string[]
  /** @throws AppError `tool-server/not-found`, `wallet/keychain-…` */
  remove(id: ToolServerId): Promise<void>
}
export type ToolChoice = { name: string; digest: string; enabled: boolean; ask: boolean }

type Options = {
  repository: ToolServerRepository
  listing: ToolCatalog
  keyStore: Pick<ProviderKeyStore, 'about' | 'store' | 'remove'>
  /** Closes the connection to the server. */
  end(id: string): Promise<void>
  events: Pick<LocalEvents, 'publish'>
  recordActivity: RecordActivity
  /** Returns random hexadecimal digits. */
  newId: () => string
}

export function createToolServers(options: Options): ToolServers {
  const { repository, listing, keyStore, end, events, recordActivity, newId } = options
  const publishChange = (): void => events.publish({ type: 'tool-servers.changed' })
  const requireServer = (id: ToolServerId): StoredServer => {
    const server = repository.find(id)
    if (server) return server
    throw new AppError('tool-server/not-found', `There is no tool server ${id}.`)
  }
  const toWire = (server: StoredServer): ToolServer => {
    const { id, name, enabled, transport, secrets, about } = server
    const { listed_at_ms: at, ...rest } = about
    return {
      ...{ id, name, enabled, place: transport },
      secrets: secrets.map((secret) => ({ name: secret, key: keyStore.about(toSecretSlot(id, secret)) })),
      tools: repository.tools(id).flatMap(toolToWire),
      ...rest,
      listed_at: at === null ? null : toIsoTime(at),
    }
  }
  const record = (kind: string, { id, name }: StoredServer, summary: string, detail = {}) =>
    recordActivity({ kind: `tool-server.${kind}`, actor: person, subject: id, summary, detail: { name, ...detail } })

  return {
    list: () => repository.all().map(toWire),
    get: (id) => toWire(requireServer(id)),
    add({ name, transport: requested, secrets }) {
      if (repository.all().length >= toolServerLimits.servers) {
        throw new AppError('tool-server/too-many', `There are ${toolServerLimits.servers} tool servers already.`)
      }
      if (repository.findByName(name))
        throw new AppError('tool-server/exists', `There is already a tool server “${name}”.`)
      assertSecretNames(requested.kind, secrets)
      const transport =
        requested.kind === 'http' ? { ...requested, url: parseServerAddress(requested.url).href } : requested
      const id = ToolServerId.parse(`tsv_${newId()}`)
      const server = { id, name, enabled: false, transport, secrets: [...new Set(secrets)], about: unasked }
      repository.upsert(server)
      const location = transport.kind === 'http' ? new URL(transport.url).origin : `sandbox ${transport.sandbox_id}`
      record('added', server, `You added the tool server “${name}”.`, { where: location })
      publishChange()
      return toWire(requireServer(id))
    },
    async setEnabled(id, enabled) {
      const server = requireServer(id)
      if (server.enabled === enabled) return toWire(server)
      repository.upsert({ ...server, enabled })
      if (!enabled) await end(id)
      record(enabled ? 'on' : 'off', server, `You turned the tool server “${server.name}” ${enabled ? 'on' : 'off'}.`)
      publishChange()
      return toWire(requireServer(id))
    },
    async test(id, signal) {
      const server = requireServer(id)
      await end(id)
      await listing.refresh(server, signal).catch(() => {}) // reported in `fault`
      if (!requireServer(id).enabled) await end(id)
      return toWire(requireServer(id))
    },
    agree(id, choices) {
      const server = requireServer(id)
      repository.atomically(() => {
        const existing = new Map(repository.tools(id).map((storedTool) => [storedTool.name, storedTool]))
        for (const choice of choices) repository.upsertTool(id, approveTool(existing.get(choice.name), choice))
      })
      const on = choices.filter((it) => it.enabled)
      const names = choices
        .map((it) => it.name)
        .join(', ')
        .slice(0, 500)
      record('tools', server, `You changed which tools of “${server.name}” chats may use.`, {
        ...{ tools: names, on: on.length, without_asking: on.filter((it) => !it.ask).length },
      })
      publishChange()
      return toWire(requireServer(id))
    },
    async setSecret(id, name, value) {
      const server = requireServer(id)
      if (!server.secrets.includes(name)) {
        throw new AppError('tool-server/secret-not-found', `“${server.name}” has no secret ${name.slice(0, 64)}.`)
      }
      await keyStore.store(toSecretSlot(id, name), value, validateSecret)
      await end(id)
      record('secret_set', server, `You set ${name} of the tool server “${server.name}”.`)
      publishChange()
    },
    ...createSandboxServers(options),
    async remove(id) {
      const server = requireServer(id)
      await end(id)
      for (const name of server.secrets) await keyStore.remove(toSecretSlot(id, name))
      repository.remove(id)
      record('removed', server, `You removed the tool server “${server.name}”.`)
      publishChange()
    },
  }
}

/** Creates the operations on servers whose program runs in a sandbox. */
function createSandboxServers({
  repository,
  end,
  events,
  recordActivity,
}: Pick<Options, 'repository' | 'end' | 'events' | 'recordActivity'>): Pick<
  ToolServers,
  'disableForSandbox' | 'sandboxIds'
> {
  return {
    disableForSandbox(sandbox) {
      for (const server of repository.all()) {
        const { id, name, transport, about } = server
        if (transport.kind !== 'sandbox' || transport.sandbox_id !== sandbox.id) continue
        const fault = `Its sandbox “${sandbox.name}” was deleted. Remove this server, or add it again in another sandbox.`
        if (!server.enabled && about.fault === fault) continue
        repository.upsert({ ...server, enabled: false, about: { ...about, fault } })
        void end(id)
        const summary = `The tool server “${name}” was turned off: its sandbox “${sandbox.name}” was deleted.`
        recordActivity({ kind: 'tool-server.off', actor: steward, subject: id, summary, detail: { name } })
        events.publish({ type: 'tool-servers.changed' })
      }
    },
    sandboxIds: () =>
      repository.all().flatMap(({ transport }) => (transport.kind === 'sandbox' ? [String(transport.sandbox_id)] : [])),
  }
}

/** @throws AppError if the tool changed since the user viewed it, or cannot be used */
function approveTool(present: StoredTool | undefined, { name, digest, enabled, ask }: ToolChoice): StoredTool {
  const label = name.slice(0, 64)
  if (!present?.listed) throw new AppError('tool-server/changed', `The server no longer lists ${label}.`)
  if (present.listed.digest !== digest) {
    throw new AppError('tool-server/changed', `${label} changed while you reviewed it. Review it again.`)
  }
  if (enabled && present.listed.alias === null) {
    throw new AppError('tool-server/unusable', `${label} cannot be used. ${present.listed.fault ?? ''}`.trim())
  }
  return { ...present, enabled, ask: !enabled || ask, agreed: enabled ? present.listed : present.agreed }
}

function toolToWire(tool: StoredTool): ToolServer['tools'] {
  const visible = tool.listed ?? tool.agreed
  if (!visible) return []
  const { agreed } = tool
  return [
    {
      ...visible,
      enabled: isUsable(tool),
      ask: tool.ask,
      changed_from: agreed && tool.listed && !isSame(tool) ? serializeTool(agreed) : null,
      missing: tool.listed === undefined,
    },
  ]
}

function serializeTool({ title, description, input_schema }: ListedTool) {
  return { title, description, input_schema }
}
