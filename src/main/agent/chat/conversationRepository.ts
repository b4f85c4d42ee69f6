import { ChatParameters, type ConversationId, noParameters, SpendLimits } from '#shared/contract/chats.ts'
import { ChatTools, noTools } from '#shared/contract/chatTools.ts'
import { sanitizeLine } from '#shared/untrustedText.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import {
  defineTable,
  flag,
  json,
  nullable,
  number,
  type Params,
  type RowOf,
  type StoredRow,
  text,
} from '#storage/table.ts'

const changeable = {
  title: text(),
  /** Whether the title was set explicitly. Otherwise, the first message determines it. */
  titled: flag(),
  folderId: nullable(text()),
  pinned: flag(),
  models: json<string[]>(),
  systemPrompt: text(),
  parameters: json((value) => ChatParameters.parse({ ...noParameters, ...Object(value) })),
  /** NULL in conversations that predate tools. */
  tools: nullable(json((value) => ChatTools.parse({ ...noTools, ...Object(value) }))),
  limits: nullable(json(SpendLimits.parse)),
  /** One sentence for the user. Shown until dismissed. */
  notice: nullable(text()),
  leafId: nullable(text()),
  messageCount: number(),
  updatedAtMs: number(),
  deletedAtMs: nullable(number()),
}
const columns = {
  id: text<ConversationId>(),
  ...changeable,
  forkedFrom: nullable(json<{ conversation_id: string; message_id: string }>()),
  sourceFormat: nullable(text()),
  sourceId: nullable(text()),
  createdAtMs: number(),
}
const newConversations = defineTable('chat_conversations', columns)
const conversations = defineTable('chat_conversations', { number: number(), ...columns })
const changeableFields = Object.keys(changeable) as (keyof typeof changeable)[]
type NewRow = RowOf<typeof newConversations>

/** `number` is the primary key. */
export type StoredConversation = Omit<RowOf<typeof conversations>, 'tools' | 'sourceFormat' | 'sourceId'> & {
  tools: ChatTools
  source: { format: string; id: string } | null
}

const maxTitleCharacters = 120

/** Position of the last conversation of a page. */
export type ListCursor = { pinned: boolean; updatedAtMs: number; number: number }
export type ListFilter = {
  /** Null matches conversations without a folder. */
  folderId: string | null | undefined
  pinned: boolean | undefined
}

export type ConversationRepository = {
  add(conversation: Omit<StoredConversation, 'number'>): StoredConversation
  /** Finds a conversation, including deleted ones. */
  find(id: string): StoredConversation | undefined
  findByNumber(number: number): StoredConversation | undefined
  findSource(format: string, id: string): StoredConversation | undefined
  /** Saves everything except the ids and the source. */
  save(conversation: StoredConversation): void
  list(filter: ListFilter, after: ListCursor | undefined, limit: number): StoredConversation[]
  count(filter: ListFilter): number
  /** Conversations that use this sandbox, including deleted ones. */
  inSandbox(sandboxId: string): StoredConversation[]
  sandboxIds(): string[]
  /** Removes conversations that were deleted before this time. @returns the ids of the removed conversations */
  purge(deletedBeforeMs: number): string[]
  /** Returns titles of conversations and first words of user messages, by id. */
  titles(ids: readonly string[]): Map<string, string>
}

const visible = `deleted_at_ms IS NULL AND (@anyFolder OR folder_id IS @folderId) AND (@pinned IS NULL OR pinned = @pinned)`

type FilterParams = Params<'anyFolder' | 'folderId' | 'pinned'>

export function createConversationRepository(database: Database): ConversationRepository {
  const selection = `SELECT ${conversations.selection()} FROM chat_conversations`
  const add = database.prepare<[Params<keyof NewRow>], { number: number }>(
    `${newConversations.insert} RETURNING number`,
  )
  const find = database.prepare<[Params<'id'>], StoredRow>(`${selection} WHERE id = @id`)
  const numbered = database.prepare<[Params<'number'>], StoredRow>(`${selection} WHERE number = @number`)
  const findSource = database.prepare<[Params<'format' | 'id'>], StoredRow>(
    `${selection} WHERE source_format = @format AND source_id = @id`,
  )
  const save = database.prepare<[Params<'number' | keyof typeof changeable>]>(
    `UPDATE chat_conversations SET ${conversations.assignments(changeableFields)} WHERE number = @number`,
  )
  const list = database.prepare<[FilterParams & Params<'after' | 'afterMs' | 'afterNumber' | 'limit'>], StoredRow>(
    `${selection} WHERE ${visible}
       AND (@after IS NULL OR (pinned, updated_at_ms, number) < (@after, @afterMs, @afterNumber))
     ORDER BY pinned DESC, updated_at_ms DESC, number DESC LIMIT @limit`,
  )
  const count = database.prepare<[FilterParams], { count: number }>(
    `SELECT count(*) AS count FROM chat_conversations WHERE ${visible}`,
  )
  const inSandbox = database.prepare<[Params<'sandboxId'>], StoredRow>(
    `${selection} WHERE tools ->> '$.sandbox_id' = @sandboxId`,
  )
  const sandboxIds = database.prepare<[], { id: string }>(
    `SELECT DISTINCT tools ->> '$.sandbox_id' AS id FROM chat_conversations WHERE tools ->> '$.sandbox_id' IS NOT NULL`,
  )
  const purge = database.prepare<[Params<'deletedBeforeMs'>], { id: string }>(
    'DELETE FROM chat_conversations WHERE deleted_at_ms < @deletedBeforeMs RETURNING id',
  )
  const titles = database.prepare<[Params<'ids'>], { id: string; title: string }>(
    `WITH ids AS (SELECT value FROM json_each(@ids))
     SELECT id, title FROM chat_conversations WHERE deleted_at_ms IS NULL AND id IN (SELECT value FROM ids)
     UNION ALL
     SELECT m.id, substr(m.text, 1, ${maxTitleCharacters * 4}) FROM chat_messages m
       JOIN chat_conversations c ON c.number = m.conversation
       WHERE c.deleted_at_ms IS NULL AND m.role = 'user' AND m.id IN (SELECT value FROM ids)`,
  )

  return {
    add(conversation) {
      const row = add.get(newConversations.params(toRow(conversation)))
      if (!row) throw new Error('A conversation was not added.')
      return { ...conversation, number: row.number }
    },
    find: (id) => toOptionalConversation(find.get({ id })),
    findByNumber: (number) => toOptionalConversation(numbered.get({ number })),
    findSource: (format, id) => toOptionalConversation(findSource.get({ format, id })),
    save: (conversation) =>
      void save.run(conversations.params({ ...toRow(conversation), number: conversation.number })),
    list: (filter, after, limit) =>
      list
        .all({
          ...filterParams(filter),
          after: after === undefined ? null : Number(after.pinned),
          afterMs: after?.updatedAtMs ?? null,
          afterNumber: after?.number ?? null,
          limit,
        })
        .map(toConversation),
    count: (filter) => count.get(filterParams(filter))?.count ?? 0,
    inSandbox: (sandboxId) => inSandbox.all({ sandboxId }).map(toConversation),
    sandboxIds: () => sandboxIds.all().map(({ id }) => id),
    purge: (deletedBeforeMs) => purge.all({ deletedBeforeMs }).map(({ id }) => id),
    titles: (ids) =>
      new Map(
        titles.all({ ids: JSON.stringify(ids) }).map(({ id, title }) => [id, sanitizeLine(title, maxTitleCharacters)]),
      ),
  }
}

function filterParams({ folderId, pinned }: ListFilter): FilterParams {
  return {
    anyFolder: Number(folderId === undefined),
    folderId: folderId ?? null,
    pinned: pinned === undefined ? null : Number(pinned),
  }
}

function toRow({ source, ...conversation }: Omit<StoredConversation, 'number'>): NewRow {
  return { ...conversation, sourceFormat: source?.format ?? null, sourceId: source?.id ?? null }
}

function toOptionalConversation(row: StoredRow | undefined): StoredConversation | undefined {
  return row && toConversation(row)
}

function toConversation(row: StoredRow): StoredConversation {
  const { sourceFormat, sourceId, tools, ...conversation } = conversations.fromRow(row)
  const source = sourceFormat === null || sourceId === null ? null : { format: sourceFormat, id: sourceId }
  return { ...conversation, tools: tools ?? noTools, source }
}
