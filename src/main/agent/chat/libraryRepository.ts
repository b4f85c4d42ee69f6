import type { Attachment, Prompt } from '#shared/contract/chatLibrary.ts'
import type { AttachmentId, Folder, FolderId, PromptId } from '#shared/contract/chats.ts'
import { promptVariables } from '#shared/promptText.ts'
import { toIsoTime } from '#shared/time.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

const folderTable = defineTable('chat_folders', { id: text<FolderId>(), name: text() })
const promptTable = defineTable('chat_prompts', {
  id: text<PromptId>(),
  title: text(),
  text: text(),
  updatedAtMs: number(),
})
const attachmentTable = defineTable('chat_attachments', {
  id: text<AttachmentId>(),
  /** Key of the content. */
  hash: text(),
  name: text(),
  kind: text<Attachment['kind']>(),
  media_type: text(),
  size: number(),
  /** Estimated number of tokens. */
  tokens: number(),
  createdAtMs: number(),
})
type PromptRow = RowOf<typeof promptTable>
export type StoredAttachment = RowOf<typeof attachmentTable>
type AttachmentOfMessage = StoredAttachment & { message: number }

/** Folders, prompts and attachments. */
export type LibraryRepository = {
  folders(): Folder[]
  saveFolder(folder: { id: string; name: string }): void
  removeFolder(id: string): boolean
  prompts(): Prompt[]
  savePrompt(prompt: Omit<PromptRow, 'id'> & { id: string }): void
  removePrompt(id: string): boolean
  addAttachment(attachment: StoredAttachment, bytes: Buffer): void
  findAttachment(id: string): StoredAttachment | undefined
  bytes(hash: string): Buffer | undefined
  attach(message: number, ids: readonly string[]): void
  /** Attachments in the order of the messages and within each message. */
  listAttachments(messages: readonly number[]): AttachmentOfMessage[]
  /** Removes older attachments without a message, and content without an attachment. */
  purgeAttachments(beforeMs: number): void
}

export function createLibraryRepository(database: Database): LibraryRepository {
  const folders = database.prepare<[], StoredRow & { conversations: number }>(
    `SELECT ${folderTable.selection('f')},
       (SELECT count(*) FROM chat_conversations c WHERE c.folder_id = f.id AND c.deleted_at_ms IS NULL) AS conversations
     FROM chat_folders f ORDER BY name COLLATE NOCASE, id`,
  )
  const saveFolder = database.prepare<[Params<'id' | 'name'>]>(folderTable.upsert(['id']))
  const removeFolder = database.prepare<[Params<'id'>]>('DELETE FROM chat_folders WHERE id = @id')
  const prompts = database.prepare<[], StoredRow>(
    `SELECT ${promptTable.selection()} FROM chat_prompts ORDER BY title COLLATE NOCASE, id`,
  )
  const savePrompt = database.prepare<[Params<keyof PromptRow>]>(promptTable.upsert(['id']))
  const removePrompt = database.prepare<[Params<'id'>]>('DELETE FROM chat_prompts WHERE id = @id')
  const addBlob = database.prepare<[Params<'hash' | 'bytes'>]>(
    'INSERT INTO chat_blobs (hash, bytes) VALUES (@hash, @bytes) ON CONFLICT (hash) DO NOTHING',
  )
  const addAttachment = database.prepare<[Params<keyof StoredAttachment>]>(attachmentTable.insert)
  const attachment = database.prepare<[Params<'id'>], StoredRow>(
    `SELECT ${attachmentTable.selection()} FROM chat_attachments WHERE id = @id`,
  )
  const blob = database.prepare<[Params<'hash'>], { bytes: Buffer }>('SELECT bytes FROM chat_blobs WHERE hash = @hash')
  const attach = database.prepare<[Params<'message' | 'place' | 'id'>]>(
    'INSERT INTO chat_message_attachments (message, place, attachment_id) VALUES (@message, @place, @id)',
  )
  const attachmentsOf = database.prepare<[Params<'messages'>], StoredRow & { message: number }>(
    `SELECT ${attachmentTable.selection('a')}, u.message
     FROM chat_message_attachments u JOIN chat_attachments a ON a.id = u.attachment_id
     WHERE u.message IN (SELECT value FROM json_each(@messages)) ORDER BY u.message, u.place`,
  )
  const purge = database.prepare<[Params<'beforeMs'>]>(
    `DELETE FROM chat_attachments WHERE created_at_ms < @beforeMs
       AND id NOT IN (SELECT attachment_id FROM chat_message_attachments)`,
  )
  const purgeBlobs = database.prepare('DELETE FROM chat_blobs WHERE hash NOT IN (SELECT hash FROM chat_attachments)')

  return {
    folders: () => folders.all().map((row) => ({ ...folderTable.fromRow(row), conversations: row.conversations })),
    saveFolder: (folder) => void saveFolder.run(folder),
    removeFolder: (id) => removeFolder.run({ id }).changes === 1,
    prompts: () =>
      prompts.all().map((row) => {
        const { updatedAtMs, ...prompt } = promptTable.fromRow(row)
        return { ...prompt, variables: promptVariables(prompt.text), updated_at: toIsoTime(updatedAtMs) }
      }),
    savePrompt: (prompt) => void savePrompt.run(prompt),
    removePrompt: (id) => removePrompt.run({ id }).changes === 1,
    addAttachment: (added, bytes) =>
      database
        .transaction(() => {
          addBlob.run({ hash: added.hash, bytes })
          addAttachment.run(attachmentTable.params(added))
        })
        .immediate(),
    findAttachment: (id) => attachment.all({ id }).map(attachmentTable.fromRow)[0],
    bytes: (hash) => blob.get({ hash })?.bytes,
    attach(message, ids) {
      for (const [position, id] of ids.entries()) attach.run({ message, place: position, id })
    },
    listAttachments: (messages) =>
      attachmentsOf
        .all({ messages: JSON.stringify(messages) })
        .map((row) => ({ ...attachmentTable.fromRow(row), message: row.message })),
    purgeAttachments: (beforeMs) =>
      database
        .transaction(() => {
          if (purge.run({ beforeMs }).changes > 0) purgeBlobs.run()
        })
        .immediate(),
  }
}

export function toWireAttachment({ id, name, kind, media_type, size }: StoredAttachment): Attachment {
  return { id, name, kind, media_type, size }
}
