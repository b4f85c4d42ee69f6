import type { Folder, FolderId } from '#shared/contract/chats.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, type Params, type StoredRow, text } from '#storage/table.ts'

const folderTable = defineTable('chat_folders', { id: text<FolderId>(), name: text() })

export type FolderRepository = {
  /** Lists the folders by name, with their number of conversations. */
  list(): Folder[]
  save(folder: { id: string; name: string }): void
  remove(id: string): boolean
}

export function createFolderRepository(database: Database): FolderRepository {
  const folders = database.prepare<[], StoredRow & { conversations: number }>(
    `SELECT ${folderTable.selection('f')},
       (SELECT count(*) FROM chat_conversations c WHERE c.folder_id = f.id AND c.deleted_at_ms IS NULL) AS conversations
     FROM chat_folders f ORDER BY name COLLATE NOCASE, id`,
  )
  const save = database.prepare<[Params<'id' | 'name'>]>(folderTable.upsert(['id']))
  const remove = database.prepare<[Params<'id'>]>('DELETE FROM chat_folders WHERE id = @id')

  return {
    list: () => folders.all().map((row) => ({ ...folderTable.fromRow(row), conversations: row.conversations })),
    save: (folder) => void save.run(folder),
    remove: (id) => remove.run({ id }).changes === 1,
  }
}
