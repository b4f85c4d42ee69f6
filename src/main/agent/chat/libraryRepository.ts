import type { Attachment, Prompt } from '../../../shared/contract/chatLibrary.ts'
import type { AttachmentId, Folder, FolderId, PromptId } from '../../../shared/contract/chats.ts'
import { promptVariables } from '../../../shared/promptText.ts'
import { isoTime } from '../../../shared/time.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type StoredAttachment = Attachment & { hash: string; tokens: number; createdAtMs: number }
type AttachmentOfMessage = StoredAttachment & { message: number }

/** Folders, prompts and attachments. */
export type LibraryRepository = {
  folders(): Folder[]
  saveFolder(folder: { id: string; name: string }): void
  removeFolder(id: string): boolean
  prompts(): Prompt[]
  savePrompt(prompt: { id: string; title: string; text: string; updatedAtMs: number }): void
  removePrompt(id: string): boolean
  addAttachment(attachment: StoredAttachment, bytes: Buffer): void
  attachment(id: string): StoredAttachment | undefined
  bytes(hash: string): Buffer | undefined
  attach(message: number, ids: readonly string[]): void
  /** In their order. */
  attachmentsOf(messages: readonly number[]): AttachmentOfMessage[]
  /** What no message uses and is older, with its bytes where nothing else has them. */
  purgeAttachments(beforeMs: number): void
}

type AttachmentRow = Omit<StoredAttachment, 'createdAtMs'> & { created_at_ms: number }

export function libraryRepository(database: Database): LibraryRepository {
  const folders = database.prepare<[], { id: FolderId; name: string; conversations: number }>(
    `SELECT id, name, (SELECT count(*) FROM chat_conversations c WHERE c.folder_id = f.id AND c.deleted_at_ms IS NULL)
       AS conversations
     FROM chat_folders f ORDER BY name COLLATE NOCASE, id`,
  )
  const saveFolder = database.prepare<[{ id: string; name: string }]>(
    'INSERT INTO chat_folders VALUES (@id, @name) ON CONFLICT (id) DO UPDATE SET name = @name',
  )
  const removeFolder = database.prepare<[string]>('DELETE FROM chat_folders WHERE id = ?')
  const prompts = database.prepare<[], { id: PromptId; title: string; text: string; updated_at_ms: number }>(
    'SELECT * FROM chat_prompts ORDER BY title COLLATE NOCASE, id',
  )
  const savePrompt = database.prepare<[{ id: string; title: string; text: string; updatedAtMs: number }]>(
    `INSERT INTO chat_prompts VALUES (@id, @title, @text, @updatedAtMs)
     ON CONFLICT (id) DO UPDATE SET title = @title, text = @text, updated_at_ms = @updatedAtMs`,
  )
  const removePrompt = database.prepare<[string]>('DELETE FROM chat_prompts WHERE id = ?')
  const addBlob = database.prepare<[string, Buffer]>('INSERT OR IGNORE INTO chat_blobs VALUES (?, ?)')
  const addAttachment = database.prepare(
    `INSERT INTO chat_attachments VALUES (@id, @hash, @name, @kind, @media_type, @size, @tokens, @createdAtMs)`,
  )
  const attachment = database.prepare<[string], AttachmentRow>('SELECT * FROM chat_attachments WHERE id = ?')
  const blob = database.prepare<[string], { bytes: Buffer }>('SELECT bytes FROM chat_blobs WHERE hash = ?')
  const attach = database.prepare<[number, number, string]>('INSERT INTO chat_message_attachments VALUES (?, ?, ?)')
  const attachmentsOf = database.prepare<[string], AttachmentRow & { message: number }>(
    `SELECT a.*, u.message FROM chat_message_attachments u JOIN chat_attachments a ON a.id = u.attachment_id
     WHERE u.message IN (SELECT value FROM json_each(?)) ORDER BY u.message, u.place`,
  )
  const purge = database.prepare<[number]>(
    `DELETE FROM chat_attachments WHERE created_at_ms < ?
       AND id NOT IN (SELECT attachment_id FROM chat_message_attachments)`,
  )
  const purgeBlobs = database.prepare('DELETE FROM chat_blobs WHERE hash NOT IN (SELECT hash FROM chat_attachments)')

  return {
    folders: () => folders.all(),
    saveFolder: (folder) => void saveFolder.run(folder),
    removeFolder: (id) => removeFolder.run(id).changes === 1,
    prompts: () =>
      prompts.all().map(({ updated_at_ms, ...prompt }) => ({
        ...prompt,
        variables: promptVariables(prompt.text),
        updated_at: isoTime(updated_at_ms),
      })),
    savePrompt: (prompt) => void savePrompt.run(prompt),
    removePrompt: (id) => removePrompt.run(id).changes === 1,
    addAttachment: (given, bytes) =>
      database
        .transaction(() => {
          addBlob.run(given.hash, bytes)
          addAttachment.run(given)
        })
        .immediate(),
    attachment: (id) => attachment.all(id).map(stored)[0],
    bytes: (hash) => blob.get(hash)?.bytes,
    attach(message, ids) {
      for (const [place, id] of ids.entries()) attach.run(message, place, id)
    },
    attachmentsOf: (messages) =>
      attachmentsOf.all(JSON.stringify(messages)).map((row) => ({ ...stored(row), message: row.message })),
    purgeAttachments: (beforeMs) =>
      database
        .transaction(() => {
          if (purge.run(beforeMs).changes > 0) purgeBlobs.run()
        })
        .immediate(),
  }
}

function stored({ created_at_ms: createdAtMs, ...row }: AttachmentRow): StoredAttachment {
  return { ...row, id: row.id as AttachmentId, createdAtMs } // written by `addAttachment` alone
}

export function toldAttachment({ id, name, kind, media_type, size }: StoredAttachment): Attachment {
  return { id, name, kind, media_type, size }
}
