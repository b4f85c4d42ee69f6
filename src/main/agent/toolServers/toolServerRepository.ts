import { z } from 'zod'
import { SecretName, ToolServerId, ToolServerPlace } from '../../../shared/contract/toolServers.ts'
import { parsedJson } from '../../platform/parsedJson.ts'
import type { Database } from '../../storage/openDatabase.ts'
import { ListedTool } from './listedTools.ts'

export const ServerAbout = z.object({
  calls_itself: z.string().nullable(),
  revision: z.string().nullable(),
  listed_at_ms: z.int().nullable(),
  fault: z.string().nullable(),
})
export type ServerAbout = z.infer<typeof ServerAbout>

export type StoredServer = {
  id: ToolServerId
  name: string
  enabled: boolean
  place: ToolServerPlace
  secrets: readonly string[]
  about: ServerAbout
}

export type StoredTool = {
  name: string
  /** As it is listed now. */
  listed: ListedTool | undefined
  /** As the person agreed to it. */
  agreed: ListedTool | undefined
  enabled: boolean
  ask: boolean
}

export function isSame({ listed, agreed }: Pick<StoredTool, 'listed' | 'agreed'>): boolean {
  return listed !== undefined && listed.digest === agreed?.digest
}

/** It is listed just as the person agreed to it. */
export function isUsable(tool: StoredTool): boolean {
  return tool.enabled && isSame(tool) && tool.listed?.alias !== null
}

export type ToolServerRepository = {
  /** In the order in which they were added. */
  all(): StoredServer[]
  find(id: string): StoredServer | undefined
  named(name: string): StoredServer | undefined
  put(server: StoredServer): void
  remove(id: string): void
  tools(id: string): StoredTool[]
  putTool(id: string, tool: StoredTool): void
  removeTool(id: string, name: string): void
  atomically(work: () => void): void
}

type ServerRow = { id: string; name: string; enabled: number; place: string; secrets: string; about: string }
type ToolRow = { name: string; listed: string | null; agreed: string | null; enabled: number; ask: number }
export const unasked: ServerAbout = { calls_itself: null, revision: null, listed_at_ms: null, fault: null }

export function toolServerRepository(database: Database): ToolServerRepository {
  const all = database.prepare<[], ServerRow>('SELECT * FROM tool_servers ORDER BY rowid')
  const find = database.prepare<[string], ServerRow>('SELECT * FROM tool_servers WHERE id = ?')
  const named = database.prepare<[string], ServerRow>('SELECT * FROM tool_servers WHERE name = ?')
  const put = database.prepare<[ServerRow]>(
    `INSERT INTO tool_servers (id, name, enabled, place, secrets, about)
     VALUES (@id, @name, @enabled, @place, @secrets, @about)
     ON CONFLICT (id) DO UPDATE SET enabled = excluded.enabled, about = excluded.about`,
  )
  const remove = database.prepare<[string]>('DELETE FROM tool_servers WHERE id = ?')
  const tools = database.prepare<[string], ToolRow>(
    'SELECT name, listed, agreed, enabled, ask FROM served_tools WHERE server = ? ORDER BY name',
  )
  const putTool = database.prepare<[ToolRow & { server: string }]>(
    `INSERT OR REPLACE INTO served_tools (server, name, listed, agreed, enabled, ask)
     VALUES (@server, @name, @listed, @agreed, @enabled, @ask)`,
  )
  const removeTool = database.prepare<[string, string]>('DELETE FROM served_tools WHERE server = ? AND name = ?')
  const only = (row: ServerRow | undefined): StoredServer | undefined => (row ? serverOf(row)[0] : undefined)
  return {
    all: () => all.all().flatMap(serverOf),
    find: (id) => only(find.get(id)),
    named: (name) => only(named.get(name)),
    put({ enabled, place, secrets, about, ...row }) {
      const json = { place: JSON.stringify(place), secrets: JSON.stringify(secrets), about: JSON.stringify(about) }
      put.run({ ...row, ...json, enabled: Number(enabled) })
    },
    remove: (id) => void remove.run(id),
    tools: (id) => tools.all(id).map(toolOf),
    putTool(server, { name, listed, agreed, enabled, ask }) {
      const json = { listed: jsonOrNull(listed), agreed: jsonOrNull(agreed) }
      putTool.run({ server, name, ...json, enabled: Number(enabled), ask: Number(ask) })
    },
    removeTool: (id, name) => void removeTool.run(id, name),
    atomically: (work) => database.transaction(work).immediate(),
  }
}

/** A row that cannot be understood is no server. */
function serverOf({ id, name, enabled, ...row }: ServerRow): StoredServer[] {
  const place = ToolServerPlace.safeParse(parsedJson(row.place)).data
  const known = ToolServerId.safeParse(id).data
  if (!place || !known) return []
  const secrets = z.array(SecretName).catch([]).parse(parsedJson(row.secrets))
  const about = ServerAbout.catch(unasked).parse(parsedJson(row.about))
  return [{ id: known, name, enabled: enabled === 1, place, secrets, about }]
}

/** What cannot be understood was never agreed to. */
function toolOf({ name, listed, agreed, enabled, ask }: ToolRow): StoredTool {
  const read = (text: string | null) => (text === null ? undefined : ListedTool.safeParse(parsedJson(text)).data)
  return { name, listed: read(listed), agreed: read(agreed), enabled: enabled === 1, ask: ask === 1 }
}

function jsonOrNull(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value)
}
