import { z } from 'zod'
import { ModelPrice, ModelServerId } from '../../../shared/contract/providers.ts'
import { parsedJson } from '../../platform/parsedJson.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type ServerRow = {
  id: ModelServerId
  name: string
  baseUrl: string
  models: readonly string[]
  needsKey: boolean
  readAtMs: number
  isFree: boolean
  /** Price of models without one in the server's list. Null if unknown. */
  price: ModelPrice | null
  listedPrices: Readonly<Record<string, ModelPrice>>
}

export type ModelServerRepository = {
  /** In the order in which they were added. */
  all(): readonly ServerRow[]
  put(row: ServerRow): void
  remove(id: ModelServerId): void
}

type Stored = {
  id: string
  name: string
  baseUrl: string
  models: string
  needsKey: number
  readAtMs: number
  free: number
  price: string | null
  listedPrices: string
}

export function modelServerRepository(database: Database): ModelServerRepository {
  const all = database.prepare<[], Stored>(
    `SELECT id, name, base_url AS baseUrl, models, needs_key AS needsKey, read_at_ms AS readAtMs,
       free, price, listed_prices AS listedPrices
     FROM model_servers ORDER BY rowid`,
  )
  const put = database.prepare<[string, string, string, string, number, number, number, string | null, string]>(
    `INSERT INTO model_servers (id, name, base_url, models, needs_key, read_at_ms, free, price, listed_prices)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET models = excluded.models, needs_key = excluded.needs_key,
       read_at_ms = excluded.read_at_ms, free = excluded.free, price = excluded.price,
       listed_prices = excluded.listed_prices`,
  )
  const remove = database.prepare<[string]>('DELETE FROM model_servers WHERE id = ?')
  return {
    all: () => all.all().map(rowOf),
    put: ({ id, name, baseUrl, models, needsKey, readAtMs, isFree, price, listedPrices }) =>
      void put.run(
        ...([id, name, baseUrl, JSON.stringify(models), needsKey ? 1 : 0, readAtMs, isFree ? 1 : 0] as const),
        price && JSON.stringify(price),
        JSON.stringify(listedPrices),
      ),
    remove: (id) => void remove.run(id),
  }
}

function rowOf({ id, models, needsKey, free, price, listedPrices, ...row }: Stored): ServerRow {
  const names = z.array(z.string()).catch([]).parse(parsedJson(models))
  return {
    ...row,
    id: ModelServerId.parse(id),
    models: names,
    needsKey: needsKey === 1,
    isFree: free === 1,
    price: ModelPrice.nullable()
      .catch(null)
      .parse(price && parsedJson(price)),
    listedPrices: z.record(z.string(), ModelPrice).catch({}).parse(parsedJson(listedPrices)),
  }
}
