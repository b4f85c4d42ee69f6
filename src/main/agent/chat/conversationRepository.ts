import { ChatParameters, type ConversationId, noParameters, SpendLimits } from '../../../shared/contract/chats.ts'
import { ChatTools, noTools } from '../../../shared/contract/chatTools.ts'
import { shownLine } from '../../../shared/shownLine.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type StoredConversation = {
  /** In the database. */
  number: number
  id: ConversationId
  title: string
  /** False: its first message names it. */
  titled: boolean
  folderId: string | null
  pinned: boolean
  models: string[]
  systemPrompt: string
  parameters: ChatParameters
  tools: ChatTools
  limits: SpendLimits | null
  /** One sentence for the user, until they dismiss it; null: none. */
  notice: string | null
  leafId: string | null
  messageCount: number
  forkedFrom: { conversation_id: string; message_id: string } | null
  source: { format: string; id: string } | null
  createdAtMs: number
  updatedAtMs: number
  deletedAtMs: number | null
}

const maxTitleCharacters = 120

/** Where a page ends. */
export type ListPlace = { pinned: boolean; updatedAtMs: number; number: number }
export type ListFilter = {
  /** Null: those in none. */
  folderId: string | null | undefined
  pinned: boolean | undefined
}

export type ConversationRepository = {
  add(conversation: Omit<StoredConversation, 'number'>): StoredConversation
  /** Deleted ones too. */
  find(id: string): StoredConversation | undefined
  numbered(number: number): StoredConversation | undefined
  findSource(format: string, id: string): StoredConversation | undefined
  /** Everything but its ids and its source. */
  save(conversation: StoredConversation): void
  list(filter: ListFilter, after: ListPlace | undefined, limit: number): StoredConversation[]
  count(filter: ListFilter): number
  /** Those that work in this sandbox, deleted ones included. */
  inSandbox(sandboxId: string): StoredConversation[]
  /** Sandboxes that conversations work in. */
  sandboxIds(): string[]
  /** Deleted before, for good. @returns their ids */
  purge(deletedBeforeMs: number): string[]
  /** Returns titles of conversations and first words of questions, by their ids. */
  titles(ids: readonly string[]): Map<string, string>
}

type Row = {
  number: number
  id: string
  title: string
  titled: 0 | 1
  folder_id: string | null
  pinned: 0 | 1
  models: string
  system_prompt: string
  parameters: string
  tools: string | null
  limits: string | null
  notice: string | null
  leaf_id: string | null
  message_count: number
  forked_from: string | null
  source_format: string | null
  source_id: string | null
  created_at_ms: number
  updated_at_ms: number
  deleted_at_ms: number | null
}

const changeable = [
  'title',
  'titled',
  'folder_id',
  'pinned',
  'models',
  'system_prompt',
  'parameters',
  'tools',
  'limits',
  'notice',
  'leaf_id',
  'message_count',
  'updated_at_ms',
  'deleted_at_ms',
] as const
const columns = ['id', ...changeable, 'forked_from', 'source_format', 'source_id', 'created_at_ms'] as const
const shown = `deleted_at_ms IS NULL AND (@any_folder OR folder_id IS @folder_id) AND (@pinned IS NULL OR pinned = @pinned)`

export function conversationRepository(database: Database): ConversationRepository {
  const add = database.prepare<[Omit<Row, 'number'>], { number: number }>(
    `INSERT INTO chat_conversations (${columns.join(', ')}) VALUES (${columns.map((it) => `@${it}`).join(', ')})
     RETURNING number`,
  )
  const find = database.prepare<[string], Row>('SELECT * FROM chat_conversations WHERE id = ?')
  const numbered = database.prepare<[number], Row>('SELECT * FROM chat_conversations WHERE number = ?')
  const findSource = database.prepare<[string, string], Row>(
    'SELECT * FROM chat_conversations WHERE source_format = ? AND source_id = ?',
  )
  const save = database.prepare<[Row]>(
    `UPDATE chat_conversations SET ${changeable.map((it) => `${it} = @${it}`).join(', ')} WHERE number = @number`,
  )
  const list = database.prepare<[object], Row>(
    `SELECT * FROM chat_conversations WHERE ${shown}
       AND (@after IS NULL OR (pinned, updated_at_ms, number) < (@after, @after_ms, @after_number))
     ORDER BY pinned DESC, updated_at_ms DESC, number DESC LIMIT @limit`,
  )
  const count = database.prepare<[object], { count: number }>(
    `SELECT count(*) AS count FROM chat_conversations WHERE ${shown}`,
  )
  const inSandbox = database.prepare<[string], Row>(
    `SELECT * FROM chat_conversations WHERE tools ->> '$.sandbox_id' = ?`,
  )
  const sandboxIds = database.prepare<[], { id: string }>(
    `SELECT DISTINCT tools ->> '$.sandbox_id' AS id FROM chat_conversations WHERE tools ->> '$.sandbox_id' IS NOT NULL`,
  )
  const purge = database.prepare<[number], { id: string }>(
    'DELETE FROM chat_conversations WHERE deleted_at_ms < ? RETURNING id',
  )
  const titles = database.prepare<[string], { id: string; title: string }>(
    `WITH ids AS (SELECT value FROM json_each(?))
     SELECT id, title FROM chat_conversations WHERE deleted_at_ms IS NULL AND id IN (SELECT value FROM ids)
     UNION ALL
     SELECT m.id, substr(m.text, 1, ${maxTitleCharacters * 4}) FROM chat_messages m
       JOIN chat_conversations c ON c.number = m.conversation
       WHERE c.deleted_at_ms IS NULL AND m.role = 'user' AND m.id IN (SELECT value FROM ids)`,
  )

  return {
    add(conversation) {
      const row = add.get(rowOf(conversation))
      if (!row) throw new Error('A conversation was not added.')
      return { ...conversation, number: row.number }
    },
    find: (id) => stored(find.get(id)),
    numbered: (number) => stored(numbered.get(number)),
    findSource: (format, id) => stored(findSource.get(format, id)),
    save: (conversation) => void save.run({ ...rowOf(conversation), number: conversation.number }),
    list: (filter, after, limit) =>
      list
        .all({
          ...filterOf(filter),
          after: after === undefined ? null : flag(after.pinned),
          after_ms: after?.updatedAtMs ?? null,
          after_number: after?.number ?? null,
          limit,
        })
        .map(fromRow),
    count: (filter) => count.get(filterOf(filter))?.count ?? 0,
    inSandbox: (sandboxId) => inSandbox.all(sandboxId).map(fromRow),
    sandboxIds: () => sandboxIds.all().map(({ id }) => id),
    purge: (deletedBeforeMs) => purge.all(deletedBeforeMs).map(({ id }) => id),
    titles: (ids) =>
      new Map(titles.all(JSON.stringify(ids)).map(({ id, title }) => [id, shownLine(title, maxTitleCharacters)])),
  }
}

const flag = (value: boolean): 0 | 1 => (value ? 1 : 0)

function filterOf({ folderId, pinned }: ListFilter) {
  return {
    any_folder: flag(folderId === undefined),
    folder_id: folderId ?? null,
    pinned: pinned === undefined ? null : flag(pinned),
  }
}

function rowOf(it: Omit<StoredConversation, 'number'>): Omit<Row, 'number'> {
  return {
    id: it.id,
    title: it.title,
    titled: flag(it.titled),
    folder_id: it.folderId,
    pinned: flag(it.pinned),
    models: JSON.stringify(it.models),
    system_prompt: it.systemPrompt,
    parameters: JSON.stringify(it.parameters),
    tools: JSON.stringify(it.tools),
    limits: it.limits && JSON.stringify(it.limits),
    notice: it.notice,
    leaf_id: it.leafId,
    message_count: it.messageCount,
    forked_from: it.forkedFrom && JSON.stringify(it.forkedFrom),
    source_format: it.source?.format ?? null,
    source_id: it.source?.id ?? null,
    created_at_ms: it.createdAtMs,
    updated_at_ms: it.updatedAtMs,
    deleted_at_ms: it.deletedAtMs,
  }
}

function stored(row: Row | undefined): StoredConversation | undefined {
  return row && fromRow(row)
}

function fromRow(row: Row): StoredConversation {
  return {
    number: row.number,
    id: row.id as ConversationId, // written by `add` alone
    title: row.title,
    titled: row.titled === 1,
    folderId: row.folder_id,
    pinned: row.pinned === 1,
    models: JSON.parse(row.models),
    systemPrompt: row.system_prompt,
    parameters: ChatParameters.parse({ ...noParameters, ...JSON.parse(row.parameters) }),
    tools: row.tools === null ? noTools : ChatTools.parse({ ...noTools, ...JSON.parse(row.tools) }),
    limits: row.limits === null ? null : SpendLimits.parse(JSON.parse(row.limits)),
    notice: row.notice,
    leafId: row.leaf_id,
    messageCount: row.message_count,
    forkedFrom: row.forked_from === null ? null : JSON.parse(row.forked_from),
    source:
      row.source_format === null || row.source_id === null ? null : { format: row.source_format, id: row.source_id },
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
    deletedAtMs: row.deleted_at_ms,
  }
}
