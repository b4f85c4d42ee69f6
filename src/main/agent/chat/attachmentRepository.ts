import type { Attachment } from '#shared/contract/chatLibrary.ts'
import type { AttachmentId } from '#shared/contract/chats.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

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
export type StoredAttachment = RowOf<typeof attachmentTable>
type AttachmentOfMessage = StoredAttachment & { message: number }

/** Files attached to messages. Attachments with equal content share it. */
export type AttachmentRepository = {
  add(attachment: StoredAttachment, bytes: Buffer): void
  find(id: string): StoredAttachment | undefined
  bytes(hash: string): Buffer | undefined
  attach(message: number, ids: readonly string[]): void
  /** Attachments in the order of the messages and within each message. */
  list(messages: readonly number[]): AttachmentOfMessage[]
  /** Removes older attachments without a message, and content without an attachment. */
  purge(beforeMs: number): void
}

export function createAttachmentRepository(database: Database): AttachmentRepository {
  const addBlob = database.prepare<[Params<'hash' | 'bytes'>]>(
    'INSERT INTO chat_blobs (hash, bytes) VALUES (@hash, @bytes) ON CONFLICT (hash) DO NOTHING',
  )
  const add = database.prepare<[Params<keyof StoredAttachment>]>(attachmentTable.insert)
  const attachment = database.prepare<[Params<'id'>], StoredRow>(
    `SELECT ${attachmentTable.selection()} FROM chat_attachments WHERE id = @id`,
  )
  const blob = database.prepare<[Params<'hash'>], { bytes: Buffer }>('SELECT bytes FROM chat_blobs WHERE hash = @hash')
  const attach = database.prepare<[Params<'message' | 'position' | 'id'>]>(
    'INSERT INTO chat_message_attachments (message, place, attachment_id) VALUES (@message, @position, @id)',
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
    add: (added, bytes) =>
      database
        .transaction(() => {
          addBlob.run({ hash: added.hash, bytes })
          add.run(attachmentTable.params(added))
        })
        .immediate(),
    find: (id) => attachment.all({ id }).map(attachmentTable.fromRow)[0],
    bytes: (hash) => blob.get({ hash })?.bytes,
    attach(message, ids) {
      for (const [position, id] of ids.entries()) attach.run({ message, position, id })
    },
    list: (messages) =>
      attachmentsOf
        .all({ messages: JSON.stringify(messages) })
        .map((row) => ({ ...attachmentTable.fromRow(row), message: row.message })),
    purge: (beforeMs) =>
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
