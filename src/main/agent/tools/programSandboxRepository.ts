import type { Database } from '../../storage/openDatabase.ts'
import { defineTable, nullable, number, type Params, type RowOf, type StoredRow, text } from '../../storage/table.ts'

const sandboxes = defineTable('program_sandboxes', {
  /** Written before the sandbox is created. */
  name: text(),
  /** Null: the host has not answered its creation. */
  sandboxId: nullable(text()),
  createdAtMs: number(),
})
export type ProgramSandbox = RowOf<typeof sandboxes>

export type ProgramSandboxRepository = {
  add(name: string, createdAtMs: number): void
  created(name: string, sandboxId: string): void
  /** Oldest first. */
  all(): ProgramSandbox[]
  remove(name: string): void
}

export function programSandboxRepository(database: Database): ProgramSandboxRepository {
  const add = database.prepare<[Params<keyof ProgramSandbox>]>(sandboxes.insert)
  const created = database.prepare<[Params<'name' | 'sandboxId'>]>(
    'UPDATE program_sandboxes SET sandbox_id = @sandboxId WHERE name = @name',
  )
  const all = database.prepare<[], StoredRow>(
    `SELECT ${sandboxes.selection()} FROM program_sandboxes ORDER BY created_at_ms`,
  )
  const remove = database.prepare<[Params<'name'>]>('DELETE FROM program_sandboxes WHERE name = @name')
  return {
    add: (name, createdAtMs) => void add.run({ name, createdAtMs, sandboxId: null }),
    created: (name, sandboxId) => void created.run({ name, sandboxId }),
    all: () => all.all().map(sandboxes.fromRow),
    remove: (name) => void remove.run({ name }),
  }
}
