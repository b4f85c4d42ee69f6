import type { Database } from '#storage/sqlite/openDatabase.ts'
import type { Params } from '#storage/table.ts'

export type SearchRow = {
  conversation_id: string
  title: string
  message_id: string | null
  role: 'user' | 'assistant' | null
  /** Text around matches, which are enclosed in \u0001 and \u0002. */
  snippet: string
  at_ms: number
}

export type SearchRepository = {
  /** Returns titles, then messages, each sorted by rank. `query` is an FTS5 query. */
  search(query: { query: string; conversationId: string | undefined; offset: number; limit: number }): SearchRow[]
}

type Scope = Params<'query' | 'conversationId'>
type Page = Params<'limit' | 'offset'>

/**
 * Both queries read in index order, so that snippets are computed only for returned rows.
 * @see https://www.sqlite.org/fts5.html#the_snippet_function
 */
export function createSearchRepository(database: Database): SearchRepository {
  const inTitles = `FROM chat_title_index t CROSS JOIN chat_conversations c ON c.number = t.rowid
    WHERE chat_title_index MATCH @query AND c.deleted_at_ms IS NULL AND @conversationId IS NULL`
  const titles = database.prepare<[Scope & Page], SearchRow>(
    `SELECT c.id AS conversation_id, c.title, NULL AS message_id, NULL AS role,
       highlight(chat_title_index, 0, char(1), char(2)) AS snippet, c.updated_at_ms AS at_ms
     ${inTitles} ORDER BY t.rank LIMIT @limit OFFSET @offset`,
  )
  const countTitles = database.prepare<[Scope], { count: number }>(`SELECT count(*) AS count ${inTitles}`)
  const messages = database.prepare<[Scope & Page], SearchRow>(
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
      const scope = { query, conversationId: conversationId ?? null }
      const matches = titles.all({ ...scope, limit, offset })
      if (matches.length === limit) return matches
      const titleCount = countTitles.get(scope)?.count ?? 0
      const rest = { limit: limit - matches.length, offset: Math.max(0, offset - titleCount) }
      return [...matches, ...messages.all({ ...scope, ...rest })]
    },
  }
}
