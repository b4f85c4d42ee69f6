import { z } from 'zod'
import { ModelServerId } from '../../../shared/contract/providers.ts'
import { parsedJson } from '../../platform/parsedJson.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type ServerRow = {
  id: ModelServerId
  name: string
  baseUrl: string
  models: readonly string[]
  needsKey: boolean
  readAtMs: number
}

export type ModelServerRepository = {
  /** In the order in which they were added. */
  all(): readonly ServerRow[]
  put(row: ServerRow): void
  remove(id: ModelServerId): void
}

type Stored = { id: string; name: string; baseUrl: string; models: string; needsKey: number; readAtMs: number }

export function modelServerRepository(database: Database): ModelServerRepository {
  const all = database.prepare<[], Stored>(
    `SELECT id, name, base_url AS baseUrl, models, needs_key AS needsKey, read_at_ms AS readAtMs
     FROM model_servers ORDER BY rowid`,
  )
  const put = database.prepare<[string, string, string, string, number, number]>(
    `INSERT INTO model_servers (id, name, base_url, models, needs_key, read_at_ms) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET models = excluded.models, needs_key = excluded.needs_key, read_at_ms = excluded.read_at_ms`,
  )
  const remove = database.prepare<[string]>('DELETE FROM model_servers WHERE id = ?')
  return {
    all: () => all.all().map(rowOf),
    put: ({ id, name, baseUrl, models, needsKey, readAtMs }) =>
      void put.run(id, name, baseUrl, JSON.stringify(models), needsKey ? 1 : 0, readAtMs),
    remove: (id) => void remove.run(id),
  }
}

function rowOf({ id, models, needsKey, ...row }: Stored): ServerRow {
  const names = z.array(z.string()).catch([]).parse(parsedJson(models))
  return { ...row, id: ModelServerId.parse(id), models: names, needsKey: needsKey === 1 }
}
