import type { Database } from '../../storage/openDatabase.ts'

export type FoundRow = {
  conversation_id: string
  title: string
  message_id: string | null
  role: 'user' | 'assistant' | null
  /** What was found stands between \u0001 and \u0002. */
  snippet: string
  at_ms: number
}

export type SearchRepository = {
  /** Titles first, then messages, the best ones first. @param query in the language of FTS5 */
  search(given: { query: string; conversationId: string | undefined; offset: number; limit: number }): FoundRow[]
}

/** @see https://www.sqlite.org/fts5.html#the_snippet_function */
export function searchRepository(database: Database): SearchRepository {
  const search = database.prepare<[object], FoundRow>(
    `SELECT * FROM (
       SELECT 0 AS kind, t.rank AS score, c.id AS conversation_id, c.title, NULL AS message_id, NULL AS role,
         highlight(chat_title_index, 0, char(1), char(2)) AS snippet, c.updated_at_ms AS at_ms
       FROM chat_title_index t JOIN chat_conversations c ON c.number = t.rowid
       WHERE chat_title_index MATCH @query AND c.deleted_at_ms IS NULL AND @conversationId IS NULL
       UNION ALL
       SELECT 1, i.rank, c.id, c.title, m.id, m.role,
         snippet(chat_message_index, 0, char(1), char(2), '…', 24), m.created_at_ms
       FROM chat_message_index i JOIN chat_messages m ON m.number = i.rowid
         JOIN chat_conversations c ON c.number = m.conversation
       WHERE chat_message_index MATCH @query AND c.deleted_at_ms IS NULL
         AND (@conversationId IS NULL OR c.id = @conversationId))
     ORDER BY kind, score, at_ms DESC LIMIT @limit OFFSET @offset`,
  )
  return {
    search: ({ conversationId, ...given }) => search.all({ ...given, conversationId: conversationId ?? null }),
  }
}
