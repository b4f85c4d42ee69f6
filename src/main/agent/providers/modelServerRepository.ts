import { z } from 'zod'
import { ModelPrice, type ModelServerId } from '#shared/contract/providers.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import {
  defineTable,
  flag,
  lenientJson,
  nullable,
  number,
  type Params,
  type RowOf,
  renameColumn,
  type StoredRow,
  text,
} from '#storage/table.ts'

const servers = defineTable('model_servers', {
  id: text<ModelServerId>(),
  name: text(),
  baseUrl: text(),
  models: lenientJson<readonly string[]>(z.array(z.string()).parse, []),
  needsKey: flag(),
  readAtMs: number(),
  isFree: renameColumn('free', flag()),
  /** Price of models that have none in the server's list; null if unknown. */
  price: nullable(lenientJson<ModelPrice | null>(ModelPrice.parse, null)),
  listedPrices: lenientJson<Readonly<Record<string, ModelPrice>>>(z.record(z.string(), ModelPrice).parse, {}),
})
export type ServerRow = RowOf<typeof servers>

export type ModelServerRepository = {
  /** Lists servers in the order in which they were added. */
  all(): readonly ServerRow[]
  /** Inserts a server, or updates it except its name and URL. */
  put(row: ServerRow): void
  remove(id: ModelServerId): void
}

export function createModelServerRepository(database: Database): ModelServerRepository {
  const all = database.prepare<[], StoredRow>(`SELECT ${servers.selection()} FROM model_servers ORDER BY rowid`)
  const changes = servers.assignments(['models', 'needsKey', 'readAtMs', 'isFree', 'price', 'listedPrices'])
  const put = database.prepare<[Params<keyof ServerRow>]>(`${servers.insert} ON CONFLICT (id) DO UPDATE SET ${changes}`)
  const remove = database.prepare<[Params<'id'>]>('DELETE FROM model_servers WHERE id = @id')
  return {
    all: () => all.all().map(servers.fromRow),
    put: (row) => void put.run(servers.params(row)),
    remove: (id) => void remove.run({ id }),
  }
}
