import type { z } from 'zod'
import { changeToolClient, ToolClientId } from '../../../shared/contract/toolClients.ts'
import type { Database } from '../../storage/openDatabase.ts'

export const ToolClientSettings = changeToolClient.body.required()
export type ToolClientSettings = z.infer<typeof ToolClientSettings>

export type KeptClient = {
  id: ToolClientId
  keyPrefix: string
  settings: ToolClientSettings
  createdAtMs: number
  lastUsedAtMs: number | null
}

export type ToolClientRepository = {
  add(client: Omit<KeptClient, 'lastUsedAtMs'>, keyHash: Buffer): void
  list(): KeptClient[]
  find(id: string): KeptClient | undefined
  byKey(keyHash: Buffer): KeptClient | undefined
  change(id: string, settings: ToolClientSettings): void
  used(id: string, atMs: number): void
  remove(id: string): boolean
}

type Row = { id: string; prefix: string; settings: string; createdAtMs: number; lastUsedAtMs: number | null }

const columns =
  'id, key_prefix AS prefix, settings, created_at_ms AS createdAtMs, last_used_at_ms AS lastUsedAtMs FROM tool_clients'

export function toolClientRepository(database: Database): ToolClientRepository {
  const add = database.prepare<[string, Buffer, string, string, number]>(
    'INSERT INTO tool_clients (id, key_hash, key_prefix, settings, created_at_ms) VALUES (?, ?, ?, ?, ?)',
  )
  const list = database.prepare<[], Row>(`SELECT ${columns} ORDER BY created_at_ms DESC, rowid DESC`)
  const find = database.prepare<[string], Row>(`SELECT ${columns} WHERE id = ?`)
  const byKey = database.prepare<[Buffer], Row>(`SELECT ${columns} WHERE key_hash = ?`)
  const change = database.prepare<[string, string]>('UPDATE tool_clients SET settings = ? WHERE id = ?')
  const used = database.prepare<[number, string]>('UPDATE tool_clients SET last_used_at_ms = ? WHERE id = ?')
  const remove = database.prepare<[string]>('DELETE FROM tool_clients WHERE id = ?')
  /** Clients that were read, since their rights are read at each call. */
  const known = new Map<string, KeptClient>()
  return {
    add: ({ id, keyPrefix, settings, createdAtMs }, keyHash) =>
      void add.run(id, keyHash, keyPrefix, JSON.stringify(settings), createdAtMs),
    list: () => list.all().flatMap((row) => understood(row) ?? []),
    find(id) {
      const client = known.get(id) ?? understood(find.get(id))
      if (client) known.set(id, client)
      return client
    },
    byKey: (keyHash) => understood(byKey.get(keyHash)),
    change(id, settings) {
      known.delete(id)
      change.run(JSON.stringify(settings), id)
    },
    used(id, atMs) {
      known.delete(id)
      used.run(atMs, id)
    },
    remove(id) {
      known.delete(id)
      return remove.run(id).changes === 1
    },
  }
}

/** A row that cannot be understood opens nothing. */
function understood(row: Row | undefined): KeptClient | undefined {
  if (!row) return undefined
  const settings = ToolClientSettings.safeParse(parsed(row.settings)).data
  const { id, prefix: keyPrefix, createdAtMs, lastUsedAtMs } = row
  return settings && { id: ToolClientId.parse(id), keyPrefix, settings, createdAtMs, lastUsedAtMs }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
