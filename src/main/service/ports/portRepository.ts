import { Visibility } from '#shared/contract/ports.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, nullable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

const ports = defineTable('ports', {
  sandboxId: text<SandboxId>(),
  port: number(),
  visibility: text(Visibility.parse),
  subdomain: nullable(text()),
})
export type PortRecord = RowOf<typeof ports>

export type PortRepository = {
  /** Inserts or updates a port. */
  save(record: PortRecord): void
  find(sandboxId: string, port: number): PortRecord | undefined
  findNamed(subdomain: string): PortRecord | undefined
  /** Finds the port that was added first. */
  first(sandboxId: SandboxId): PortRecord | undefined
  /** Sorted by port. */
  list(sandboxId: SandboxId): PortRecord[]
  /** @returns whether the port was exposed */
  remove(sandboxId: SandboxId, port: number): boolean
}

export function createPortRepository(database: Database): PortRepository {
  const selection = `SELECT ${ports.selection()} FROM ports`
  const save = database.prepare<[Params<keyof PortRecord>]>(ports.upsert(['sandboxId', 'port']))
  const find = database.prepare<[Params<'sandboxId' | 'port'>], StoredRow>(
    `${selection} WHERE sandbox_id = @sandboxId AND port = @port`,
  )
  const findNamed = database.prepare<[Params<'subdomain'>], StoredRow>(`${selection} WHERE subdomain = @subdomain`)
  const list = database.prepare<[Params<'sandboxId'>], StoredRow>(
    `${selection} WHERE sandbox_id = @sandboxId ORDER BY port`,
  )
  const first = database.prepare<[Params<'sandboxId'>], StoredRow>(
    `${selection} WHERE sandbox_id = @sandboxId ORDER BY rowid LIMIT 1`,
  )
  const remove = database.prepare<[Params<'sandboxId' | 'port'>]>(
    'DELETE FROM ports WHERE sandbox_id = @sandboxId AND port = @port',
  )
  const fromOptionalRow = (row: StoredRow | undefined) => row && ports.fromRow(row)

  return {
    save: (record) => void save.run(ports.params(record)),
    find: (sandboxId, port) => fromOptionalRow(find.get({ sandboxId, port })),
    findNamed: (subdomain) => fromOptionalRow(findNamed.get({ subdomain })),
    first: (sandboxId) => fromOptionalRow(first.get({ sandboxId })),
    list: (sandboxId) => list.all({ sandboxId }).map(ports.fromRow),
    remove: (sandboxId, port) => remove.run({ sandboxId, port }).changes > 0,
  }
}
