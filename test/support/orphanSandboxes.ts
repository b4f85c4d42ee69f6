import { join } from 'node:path'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'

/** Removes sandboxes from the database but not their files, as after restoring a backup. */
export function orphanSandboxes(dataDir: string, ids: readonly string[]): void {
  const database = openDatabase(join(dataDir, 'service.sqlite'))
  const remove = database.prepare('DELETE FROM sandboxes WHERE id = ?')
  for (const id of ids) remove.run(id)
  database.close()
}
