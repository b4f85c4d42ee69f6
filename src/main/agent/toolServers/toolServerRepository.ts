import { z } from 'zod'
import { SecretName, ToolServerId, ToolServerTransport } from '#shared/contract/toolServers.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import {
  defineTable,
  flag,
  json,
  lenientJson,
  nullable,
  type Params,
  type RowOf,
  renameColumn,
  type StoredRow,
  text,
} from '#storage/table.ts'
import { ListedTool } from './parseToolList.ts'

export const ServerAbout = z.object({
  server_name: z.string().nullable(),
  protocol_version: z.string().nullable(),
  listed_at_ms: z.int().nullable(),
  fault: z.string().nullable(),
})
export type ServerAbout = z.infer<typeof ServerAbout>

export const unasked: ServerAbout = { server_name: null, protocol_version: null, listed_at_ms: null, fault: null }

const servers = defineTable('tool_servers', {
  id: text<ToolServerId>(ToolServerId.parse),
  name: text(),
  enabled: flag(),
  transport: renameColumn('place', json(ToolServerTransport.parse)),
  secrets: lenientJson<readonly string[]>(z.array(SecretName).parse, []),
  about: lenientJson(ServerAbout.parse, unasked),
})
/** A description that cannot be parsed counts as missing, because no user approved it. */
const description = nullable(lenientJson<ListedTool | null>(ListedTool.parse, null))
const tools = defineTable('served_tools', {
  server: text(),
  name: text(),
  listed: description,
  agreed: description,
  enabled: flag(),
  ask: flag(),
})
export type StoredServer = RowOf<typeof servers>
type ToolRow = RowOf<typeof tools>

export type StoredTool = Pick<ToolRow, 'name' | 'enabled' | 'ask'> & {
  /** Current description by the server. */
  listed: ListedTool | undefined
  /** Description that the user approved. */
  agreed: ListedTool | undefined
}

export function isSame({ listed, agreed }: Pick<StoredTool, 'listed' | 'agreed'>): boolean {
  return listed !== undefined && listed.digest === agreed?.digest
}

/** Whether the tool is on, and the server lists it exactly as the user approved it. */
export function isUsable(tool: StoredTool): boolean {
  return tool.enabled && isSame(tool) && tool.listed?.alias !== null
}

/** Servers whose id or transport cannot be parsed are skipped. */
export type ToolServerRepository = {
  /** Lists servers in the order in which they were added. */
  all(): StoredServer[]
  find(id: string): StoredServer | undefined
  findByName(name: string): StoredServer | undefined
  /** Inserts a server, or updates its state and description. */
  upsert(server: StoredServer): void
  remove(id: string): void
  tools(id: string): StoredTool[]
  upsertTool(id: string, tool: StoredTool): void
  removeTool(id: string, name: string): void
  atomically(work: () => void): void
}

export function createToolServerRepository(database: Database): ToolServerRepository {
  const selection = `SELECT ${servers.selection()} FROM tool_servers`
  const all = database.prepare<[], StoredRow>(`${selection} ORDER BY rowid`)
  const find = database.prepare<[Params<'id'>], StoredRow>(`${selection} WHERE id = @id`)
  const named = database.prepare<[Params<'name'>], StoredRow>(`${selection} WHERE name = @name`)
  const upsert = database.prepare<[Params<keyof StoredServer>]>(
    `${servers.insert} ON CONFLICT (id) DO UPDATE SET ${servers.assignments(['enabled', 'about'])}`,
  )
  const remove = database.prepare<[Params<'id'>]>('DELETE FROM tool_servers WHERE id = @id')
  const list = database.prepare<[Params<'server'>], StoredRow>(
    `SELECT ${tools.selection()} FROM served_tools WHERE server = @server ORDER BY name`,
  )
  const upsertTool = database.prepare<[Params<keyof ToolRow>]>(tools.upsert(['server', 'name']))
  const removeTool = database.prepare<[Params<'server' | 'name'>]>(
    'DELETE FROM served_tools WHERE server = @server AND name = @name',
  )
  return {
    all: () => all.all().flatMap((row) => servers.tryFromRow(row) ?? []),
    find: (id) => servers.tryFromRow(find.get({ id })),
    findByName: (name) => servers.tryFromRow(named.get({ name })),
    upsert: (server) => void upsert.run(servers.params(server)),
    remove: (id) => void remove.run({ id }),
    tools: (server) => list.all({ server }).map(toStoredTool),
    upsertTool: (server, { name, listed, agreed, enabled, ask }) =>
      void upsertTool.run(tools.params({ server, name, listed: listed ?? null, agreed: agreed ?? null, enabled, ask })),
    removeTool: (server, name) => void removeTool.run({ server, name }),
    atomically: (work) => database.transaction(work).immediate(),
  }
}

function toStoredTool(row: StoredRow): StoredTool {
  const { name, listed, agreed, enabled, ask } = tools.fromRow(row)
  return { name, listed: listed ?? undefined, agreed: agreed ?? undefined, enabled, ask }
}
