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

type Place = { limit: number; offset: number }

/**
 * Both are read in the order of the index, so that snippets are made of what is shown alone.
 * @see https://www.sqlite.org/fts5.html#the_snippet_function
 */
export function searchRepository(database: Database): SearchRepository {
  const inTitles = `FROM chat_title_index t CROSS JOIN chat_conversations c ON c.number = t.rowid
    WHERE chat_title_index MATCH @query AND c.deleted_at_ms IS NULL AND @conversationId IS NULL`
  const titles = database.prepare<[object], FoundRow>(
    `SELECT c.id AS conversation_id, c.title, NULL AS message_id, NULL AS role,
       highlight(chat_title_index, 0, char(1), char(2)) AS snippet, c.updated_at_ms AS at_ms
     ${inTitles} ORDER BY t.rank LIMIT @limit OFFSET @offset`,
  )
  const countTitles = database.prepare<[object], { count: number }>(`SELECT count(*) AS count ${inTitles}`)
  const messages = database.prepare<[object], FoundRow>(
    `SELECT c.id AS conversation_id, c.title, m.id AS message_id, m.role,
       snippet(chat_message_index, 0, char(1), char(2), '…', 24) AS snippet, m.created_at_ms AS at_ms
     FROM chat_message_index i CROSS JOIN chat_messages m ON m.number = i.rowid
       CROSS JOIN chat_conversations c ON c.number = m.conversation
     WHERE chat_message_index MATCH @query AND c.deleted_at_ms IS NULL
       AND (@conversationId IS NULL OR c.id = @conversationId)
     ORDER BY i.rank LIMIT @limit OFFSET @offset`,
  )
  return {
    search({ query, conversationId, limit, offset }) {
      const asked = { query, conversationId: conversationId ?? null }
      const at = (place: Place) => ({ ...asked, ...place })
      const found = titles.all(at({ limit, offset }))
      if (found.length === limit) return found
      const before = countTitles.get(asked)?.count ?? 0
      const rest = { limit: limit - found.length, offset: Math.max(0, offset - before) }
      return [...found, ...messages.all(at(rest))]
    },
  }
}
