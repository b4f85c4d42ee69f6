import type { z } from 'zod'
import { changeToolClient, type ToolClientId } from '#shared/contract/toolClients.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, json, nullable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

export const ToolClientSettings = changeToolClient.body.required()
export type ToolClientSettings = z.infer<typeof ToolClientSettings>

/** Clients without the hash of their key, which is never read. */
const clients = defineTable('tool_clients', {
  id: text<ToolClientId>(),
  keyPrefix: text(),
  settings: json(ToolClientSettings.parse),
  createdAtMs: number(),
  lastUsedAtMs: nullable(number()),
})
export type StoredClient = RowOf<typeof clients>

/** Rows that cannot be parsed are skipped and authenticate no client. */
export type ToolClientRepository = {
  add(client: Omit<StoredClient, 'lastUsedAtMs'>, keyHash: Buffer): void
  /** Lists clients, newest first. */
  list(): StoredClient[]
  find(id: string): StoredClient | undefined
  byKey(keyHash: Buffer): StoredClient | undefined
  change(id: string, settings: ToolClientSettings): void
  recordUse(id: string, atMs: number): void
  remove(id: string): boolean
}

export function createToolClientRepository(database: Database): ToolClientRepository {
  const selection = `SELECT ${clients.selection()} FROM tool_clients`
  const add = database.prepare<[Params<keyof StoredClient | 'keyHash'>]>(clients.insertWith({ key_hash: '@keyHash' }))
  const list = database.prepare<[], StoredRow>(`${selection} ORDER BY created_at_ms DESC, rowid DESC`)
  const find = database.prepare<[Params<'id'>], StoredRow>(`${selection} WHERE id = @id`)
  const byKey = database.prepare<[Params<'keyHash'>], StoredRow>(`${selection} WHERE key_hash = @keyHash`)
  const change = database.prepare<[Params<'id' | 'settings'>]>(
    'UPDATE tool_clients SET settings = @settings WHERE id = @id',
  )
  const used = database.prepare<[Params<'id' | 'atMs'>]>(
    'UPDATE tool_clients SET last_used_at_ms = @atMs WHERE id = @id',
  )
  const remove = database.prepare<[Params<'id'>]>('DELETE FROM tool_clients WHERE id = @id')
  /** Cache by id, because rights are read on each call. */
  const cache = new Map<string, StoredClient>()
  return {
    add: (client, keyHash) => void add.run({ ...clients.params({ ...client, lastUsedAtMs: null }), keyHash }),
    list: () => list.all().flatMap((row) => clients.tryFromRow(row) ?? []),
    find(id) {
      const client = cache.get(id) ?? clients.tryFromRow(find.get({ id }))
      if (client) cache.set(id, client)
      return client
    },
    byKey: (keyHash) => clients.tryFromRow(byKey.get({ keyHash })),
    change(id, settings) {
      cache.delete(id)
      change.run({ id, ...clients.params({ settings }) })
    },
    recordUse(id, atMs) {
      cache.delete(id)
      used.run({ id, atMs })
    },
    remove(id) {
      cache.delete(id)
      return remove.run({ id }).changes === 1
    },
  }
}
