import type { LinkKind, TaskId } from '#shared/contract/timelineLinks.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, nullable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

const timeline = defineTable('timeline', {
  sequence: number(),
  atMs: number(),
  kind: text(),
  actorKind: text(),
  actorName: text(),
  subject: nullable(text()),
  summary: text(),
  /** JSON, unless the file was modified. */
  detail: text(),
  task: nullable(text()),
  /** JSON, unless the file was modified. Null if there are no links. */
  links: nullable(text()),
  previousHash: text(),
  hash: text(),
})
/** Row as stored in the file. Other programs may have modified it, so readers validate every field. */
export type TimelineRow = RowOf<typeof timeline>

export type EntryLink = { kind: LinkKind; id: string }

export type RowFilter = {
  /** Word prefixes. A row must contain all of them. */
  words: readonly string[]
  /** `intent` matches every kind that begins with `intent.`. */
  kinds: readonly string[]
  actor: string | undefined
  task: string | undefined
  link: EntryLink | undefined
  fromMs: number | undefined
  toMs: number | undefined
}

export type TimelineRepository = {
  add(row: TimelineRow): void
  /** 0 if the log is empty. */
  lastSequence(): number
  /** 0 if the log is empty. */
  firstSequence(): number
  /** Newest first, up to `upTo`. */
  ofKind(kind: string, upTo: number): Iterable<TimelineRow>
  /** Sequence of the first entry at or after this time. */
  firstSince(atMs: number): number | undefined
  /** Permits removal of entries up to `through`. Called in the transaction of the entry that records the cut. */
  allowRemoval(through: number): void
  /** @throws Error if the removal was not permitted */
  removeThrough(through: number): void
  find(sequence: number): TimelineRow | undefined
  /** Entries above `after`, oldest first. */
  following(after: number, limit: number): TimelineRow[]
  /** Entries in the range from `from` (inclusive) to `below` (exclusive). */
  matching(
    filter: RowFilter,
    range: { from: number; below: number; newestFirst: boolean; limit: number },
  ): TimelineRow[]
  /** Newest `limit` entries of the task, oldest first. */
  ofTask(task: TaskId, limit: number): TimelineRow[]
  /** Tasks of chats and programs whose last entry is below `below`, newest first. */
  newestTasks(below: number, limit: number): string[]
  /**
   * Returns the first entry of the task whose actor is a program, a tool or Steward itself. Ignores completions of
   * models.
   */
  firstByRequester(task: TaskId): TimelineRow | undefined
  findFirst(link: EntryLink): TimelineRow | undefined
  /** Returns the latest state changes of a request, newest first. */
  ofRequest(intentId: string): TimelineRow[]
  /** Last synced sequence of this account's log at a service, or undefined if it was never synced. */
  findSyncedSequence(accountId: string): number | undefined
  setFollowed(accountId: string, sequence: number): void
  atomically<T>(work: () => T): T
}

const searchCondition = `(summary LIKE ? ESCAPE '\\' OR kind LIKE ? ESCAPE '\\' OR coalesce(subject, '') LIKE ? ESCAPE '\\'
  OR detail LIKE ? ESCAPE '\\' OR actor_name LIKE ? ESCAPE '\\')`
const searchedColumns = 5

export function createTimelineRepository(database: Database): TimelineRepository {
  const selection = `SELECT ${timeline.selection()} FROM timeline`
  const add = database.prepare<[Params<keyof TimelineRow>]>(timeline.insert)
  const last = database.prepare<[], { sequence: number | null }>('SELECT max(sequence) AS sequence FROM timeline')
  const first = database.prepare<[], { sequence: number | null }>('SELECT min(sequence) AS sequence FROM timeline')
  const ofKind = database.prepare<[Params<'kind' | 'upTo'>], StoredRow>(
    `${selection} WHERE kind = @kind AND sequence <= @upTo ORDER BY sequence DESC LIMIT 100`,
  )
  const firstSince = database.prepare<[Params<'atMs'>], { sequence: number }>(
    'SELECT sequence FROM timeline WHERE at_ms >= @atMs ORDER BY sequence LIMIT 1',
  )
  const allowRemoval = database.prepare<[Params<'through'>]>(
    `INSERT INTO timeline_cut (only, through_sequence) VALUES (1, @through)
     ON CONFLICT (only) DO UPDATE SET through_sequence = max(through_sequence, excluded.through_sequence)`,
  )
  const removeThrough = database.prepare<[Params<'through'>]>('DELETE FROM timeline WHERE sequence <= @through')
  const find = database.prepare<[Params<'sequence'>], StoredRow>(`${selection} WHERE sequence = @sequence`)
  const following = database.prepare<[Params<'after' | 'limit'>], StoredRow>(
    `${selection} WHERE sequence > @after ORDER BY sequence LIMIT @limit`,
  )
  const firstOf = database.prepare<[Params<keyof EntryLink>], StoredRow>(
    `${selection} WHERE sequence = (SELECT min(sequence) FROM timeline_links WHERE kind = @kind AND id = @id)`,
  )
  const ofRequest = database.prepare<[Params<'intentId'>], StoredRow>(
    `${selection} WHERE sequence IN (SELECT sequence FROM timeline_links WHERE kind = 'intent' AND id = @intentId)
       AND (kind LIKE 'intent.%' OR kind IN ('registration.registered', 'registration.failed'))
     ORDER BY sequence DESC LIMIT 10`,
  )
  const ofTask = database.prepare<[Params<'task' | 'limit'>], StoredRow>(
    `${selection} WHERE task = @task ORDER BY sequence DESC LIMIT @limit`,
  )
  const firstByRequester = database.prepare<[Params<'task'>], StoredRow>(
    `${selection} WHERE task = @task AND actor_kind IN ('client', 'tool', 'agent') AND kind NOT LIKE 'chat.%'
     ORDER BY sequence LIMIT 1`,
  )
  const newestTasks = database.prepare<[Params<'below' | 'limit'>], { task: string }>(
    `SELECT task FROM timeline WHERE task >= 'call:' AND task < 'chat;'
     GROUP BY task HAVING max(sequence) < @below ORDER BY max(sequence) DESC LIMIT @limit`,
  )
  const followed = database.prepare<[Params<'accountId'>], { sequence: number }>(
    'SELECT sequence FROM followed_services WHERE account_id = @accountId',
  )
  const setFollowed = database.prepare<[Params<'accountId' | 'sequence'>]>(
    `INSERT INTO followed_services (account_id, sequence) VALUES (@accountId, @sequence)
     ON CONFLICT (account_id) DO UPDATE SET sequence = excluded.sequence`,
  )
  const toRow = (row: StoredRow | undefined): TimelineRow | undefined => row && timeline.fromRow(row)
  return {
    add: (row) => void add.run(timeline.params(row)),
    lastSequence: () => last.get()?.sequence ?? 0,
    firstSequence: () => first.get()?.sequence ?? 0,
    ofKind: (kind, upTo) => ofKind.all({ kind, upTo }).map(timeline.fromRow),
    firstSince: (atMs) => firstSince.get({ atMs })?.sequence,
    allowRemoval: (through) => void allowRemoval.run({ through }),
    removeThrough: (through) => void removeThrough.run({ through }),
    find: (sequence) => toRow(find.get({ sequence })),
    following: (after, limit) => following.all({ after, limit }).map(timeline.fromRow),
    matching(filter, { from, below, newestFirst, limit }) {
      const { conditions, values } = buildConditions(filter)
      return database
        .prepare<(string | number)[], StoredRow>(
          `${selection} WHERE ${['sequence >= ?', 'sequence < ?', ...conditions].join(' AND ')}
           ORDER BY sequence ${newestFirst ? 'DESC' : 'ASC'} LIMIT ?`,
        )
        .all(from, below, ...values, limit)
        .map(timeline.fromRow)
    },
    ofTask: (task, limit) => ofTask.all({ task, limit }).map(timeline.fromRow).reverse(),
    newestTasks: (below, limit) => newestTasks.all({ below, limit }).map(({ task }) => task),
    firstByRequester: (task) => toRow(firstByRequester.get({ task })),
    findFirst: ({ kind, id }) => toRow(firstOf.get({ kind, id })),
    ofRequest: (intentId) => ofRequest.all({ intentId }).map(timeline.fromRow),
    findSyncedSequence: (accountId) => followed.get({ accountId })?.sequence,
    setFollowed: (accountId, sequence) => void setFollowed.run({ accountId, sequence }),
    atomically: (work) => database.transaction(work).immediate(),
  }
}

function buildConditions({ words, kinds, actor, task, link, fromMs, toMs }: RowFilter) {
  const conditions: string[] = []
  const values: (string | number)[] = []
  const addCondition = (condition: string, ...parameters: (string | number)[]): void => {
    conditions.push(condition)
    values.push(...parameters)
  }
  const indexed = words.filter(hasLetters)
  if (indexed.length > 0) {
    addCondition(
      'sequence IN (SELECT rowid FROM timeline_index WHERE timeline_index MATCH ?)',
      indexed.map(toPrefixQuery).join(' AND '),
    )
  }
  for (const word of words) {
    if (!hasLetters(word))
      addCondition(searchCondition, ...Array<string>(searchedColumns).fill(`%${escapeLike(word)}%`))
  }
  if (kinds.length > 0) {
    const oneOf = kinds.map((kind) => (kind.includes('.') ? 'kind = ?' : `kind LIKE ? || '.%' ESCAPE '\\'`))
    addCondition(`(${oneOf.join(' OR ')})`, ...kinds.map((kind) => (kind.includes('.') ? kind : escapeLike(kind))))
  }
  if (actor !== undefined) addCondition('actor_kind = ?', actor)
  if (task !== undefined) addCondition('task = ?', task)
  if (link) {
    addCondition('sequence IN (SELECT sequence FROM timeline_links WHERE kind = ? AND id = ?)', link.kind, link.id)
  }
  if (fromMs !== undefined) addCondition('at_ms >= ?', fromMs)
  if (toMs !== undefined) addCondition('at_ms < ?', toMs)
  return { conditions, values }
}

/** Whether the index can contain the word. `%` and `→` are not indexed. */
function hasLetters(word: string): boolean {
  return /[\p{L}\p{N}]/u.test(word)
}

/** Returns an FTS5 prefix query. No character of the word acts as an operator. */
function toPrefixQuery(word: string): string {
  return `"${word.replaceAll('"', '""')}"*`
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}
