import type { Database } from '../../storage/openDatabase.ts'

export type ProgramSandbox = { name: string; sandboxId: string | null; createdAtMs: number }

export type ProgramSandboxRepository = {
  add(name: string, createdAtMs: number): void
  created(name: string, sandboxId: string): void
  all(): ProgramSandbox[]
  remove(name: string): void
}

export function programSandboxRepository(database: Database): ProgramSandboxRepository {
  const add = database.prepare<[string, number]>('INSERT INTO program_sandboxes (name, created_at_ms) VALUES (?, ?)')
  const created = database.prepare<[string, string]>('UPDATE program_sandboxes SET sandbox_id = ? WHERE name = ?')
  const all = database.prepare<[], ProgramSandbox>(
    'SELECT name, sandbox_id AS sandboxId, created_at_ms AS createdAtMs FROM program_sandboxes ORDER BY created_at_ms',
  )
  const remove = database.prepare<[string]>('DELETE FROM program_sandboxes WHERE name = ?')
  return {
    add: (name, createdAtMs) => void add.run(name, createdAtMs),
    created: (name, sandboxId) => void created.run(sandboxId, name),
    all: () => all.all(),
    remove: (name) => void remove.run(name),
  }
}
