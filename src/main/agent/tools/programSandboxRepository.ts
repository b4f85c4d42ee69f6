import type { Database } from '#storage/sqlite/openDatabase.ts'
import type { Params } from '#storage/table.ts'

/**
 * Mark of a sandbox. `name` is stored before the sandbox is created. `sandboxId` is null until the host confirms the
 * creation.
 */
export type ProgramSandbox = { name: string; sandboxId: string | null; createdAtMs: number }

export type ProgramSandboxRepository = {
  add(name: string, createdAtMs: number): void
  created(name: string, sandboxId: string): void
  /** Lists the marks, oldest first. */
  all(): ProgramSandbox[]
  remove(name: string): void
}

export function createProgramSandboxRepository(database: Database): ProgramSandboxRepository {
  const add = database.prepare<[Params<'name' | 'createdAtMs'>]>(
    'INSERT INTO program_sandboxes (name, created_at_ms) VALUES (@name, @createdAtMs)',
  )
  const created = database.prepare<[Params<'name' | 'sandboxId'>]>(
    'UPDATE program_sandboxes SET sandbox_id = @sandboxId WHERE name = @name',
  )
  const all = database.prepare<[], ProgramSandbox>(
    `SELECT name, sandbox_id AS "sandboxId", created_at_ms AS "createdAtMs" FROM program_sandboxes
     ORDER BY created_at_ms`,
  )
  const remove = database.prepare<[Params<'name'>]>('DELETE FROM program_sandboxes WHERE name = @name')
  return {
    add: (name, createdAtMs) => void add.run({ name, createdAtMs }),
    created: (name, sandboxId) => void created.run({ name, sandboxId }),
    all: () => all.all(),
    remove: (name) => void remove.run({ name }),
  }
}
