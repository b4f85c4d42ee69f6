import { AppError } from '#shared/appError.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { McpConnection } from './mcpClient.ts'
import { type ListedTool, parseToolList } from './parseToolList.ts'
import type { ServerConnections } from './serverConnections.ts'
import {
  isSame,
  type StoredServer,
  type StoredTool,
  type ToolServerRepository,
  unasked,
} from './toolServerRepository.ts'

/** Tool lists of servers. A tool that differs from the version that the user approved is turned off. */
export type ToolCatalog = {
  /** Lists the tools and stores the result. @throws AppError `tool-server/failed` */
  refresh(server: StoredServer, signal: AbortSignal): Promise<McpConnection>
  /** Returns a connection with a recently read list. @throws AppError `tool-server/failed` */
  fresh(server: StoredServer, signal: AbortSignal): Promise<McpConnection>
}

type Options = {
  repository: ToolServerRepository
  connections: Pick<ServerConnections, 'open'>
  events: Pick<LocalEvents, 'publish'>
  recordActivity: RecordActivity
  now: () => number
}

/** Maximum age of a list, unless the server announced a change. */
const freshMs = 20_000

export function createToolCatalog({ repository, connections, events, recordActivity, now }: Options): ToolCatalog {
  const read = new WeakMap<McpConnection, number>()
  const reading = new Map<McpConnection, Promise<void>>()

  const storeInfo = (server: StoredServer, about: Partial<StoredServer['about']>): void => {
    const present = repository.find(server.id)
    if (!present) return // removed concurrently
    repository.upsert({ ...present, about: { ...present.about, ...about } })
    events.publish({ type: 'tool-servers.changed' })
  }
  const keep = (server: StoredServer, listed: readonly ListedTool[], about: StoredServer['about']): void => {
    const changed: string[] = []
    repository.atomically(() => {
      if (!repository.find(server.id)) return
      const existing = new Map(repository.tools(server.id).map((storedTool) => [storedTool.name, storedTool]))
      for (const tool of listed) {
        const next = withListing(existing.get(tool.name), tool)
        existing.delete(tool.name)
        if (next.isTurnedOff) changed.push(tool.name)
        repository.upsertTool(server.id, next.tool)
      }
      for (const missing of existing.values()) {
        if (missing.agreed) repository.upsertTool(server.id, { ...missing, listed: undefined })
        else repository.removeTool(server.id, missing.name)
      }
      storeInfo(server, about)
    })
    for (const name of changed) {
      recordActivity({
        kind: 'tool-server.tool_changed',
        actor: { kind: 'system', name: 'Steward' },
        subject: server.id,
        summary: `The tool server “${server.name}” changed its tool ${name.slice(0, 64)}, which is off until you review it.`,
        detail: { name: server.name, tool: name.slice(0, 200) },
      })
    }
  }
  const readList = async (server: StoredServer, client: McpConnection, signal: AbortSignal): Promise<void> => {
    const raw = await client.list(signal)
    const { serverName: server_name, protocolVersion: protocol_version } = client
    read.set(client, now())
    keep(server, parseToolList(server.name, raw), { ...unasked, server_name, protocol_version, listed_at_ms: now() })
  }
  const refresh = async (server: StoredServer, signal: AbortSignal): Promise<McpConnection> => {
    try {
      const client = await connections.open(server.id, signal)
      const work = reading.get(client) ?? readList(server, client, signal).finally(() => reading.delete(client))
      reading.set(client, work)
      await work
      return client
    } catch (error) {
      if (!signal.aborted)
        storeInfo(server, { fault: error instanceof AppError ? error.message : 'The tool server failed.' })
      throw error
    }
  }
  return {
    refresh,
    async fresh(server, signal) {
      const client = await connections.open(server.id, signal)
      const age = now() - (read.get(client) ?? Number.NEGATIVE_INFINITY)
      return age < freshMs && !client.hasChanged() ? client : refresh(server, signal)
    },
  }
}

/** @returns the tool, and whether its changed description turned it off */
function withListing(present: StoredTool | undefined, listed: ListedTool): { tool: StoredTool; isTurnedOff: boolean } {
  if (!present)
    return { tool: { name: listed.name, listed, agreed: undefined, enabled: false, ask: true }, isTurnedOff: false }
  const next = { ...present, listed }
  if (isSame(next) || !present.enabled) return { tool: next, isTurnedOff: false }
  return { tool: { ...next, enabled: false, ask: true }, isTurnedOff: true }
}
