import type { LinkKind, TaskId } from '../../../shared/contract/timelineLinks.ts'
import type { Database } from '../../storage/openDatabase.ts'

/** A row as it stands in the file, which somebody may have changed: nothing in it is taken for granted. */
export type TimelineRow = {
  sequence: number
  atMs: number
  kind: string
  actorKind: string
  actorName: string
  subject: string | null
  summary: string
  /** JSON, if nobody has touched it. */
  detail: string
  task: string | null
  /** JSON likewise; null for none. */
  links: string | null
  previousHash: string
  hash: string
}

export type EntryLink = { kind: LinkKind; id: string }

export type RowFilter = {
  /** Of each, a word in the row begins with it. */
  words: readonly string[]
  /** `intent` is every kind that begins with `intent.`. */
  kinds: readonly string[]
  actor: string | undefined
  task: string | undefined
  link: EntryLink | undefined
  fromMs: number | undefined
  toMs: number | undefined
}

export type TimelineRepository = {
  add(row: TimelineRow): void
  /** 0 when there is none. */
  lastSequence(): number
  /** 0 when there is none. */
  firstSequence(): number
  /** The newest first, of those up to `upTo`. */
  ofKind(kind: string, upTo: number): Iterable<TimelineRow>
  /** The first entry that is not older; undefined when all are. */
  firstSince(atMs: number): number | undefined
  /** From now on entries up to here may be removed. In the transaction of the entry that says so. */
  allowRemoval(through: number): void
  /** @throws where it was not allowed */
  removeThrough(through: number): void
  find(sequence: number): TimelineRow | undefined
  /** Oldest first, of those above `after`. */
  following(after: number, limit: number): TimelineRow[]
  /** Sequences from `from` up to and without `below`. */
  matching(
    filter: RowFilter,
    range: { from: number; below: number; newestFirst: boolean; limit: number },
  ): TimelineRow[]
  /** Oldest first; of more than `most` the newest. */
  ofTask(task: TaskId, most: number): TimelineRow[]
  /** Tasks of chats and programs whose last entry is below `below`, the newest first. */
  newestTasks(below: number, limit: number): string[]
  /** Returns the first entry of the task whose actor is a program, a tool or Steward itself, except answers of models. */
  firstByRequester(task: TaskId): TimelineRow | undefined
  /** The first entry that leads there. */
  firstOf(link: EntryLink): TimelineRow | undefined
  /** Returns the latest state changes of a request, newest first. */
  ofRequest(intentId: string): TimelineRow[]
  /** How far the log of this account of a service was read; undefined when it never was. */
  followed(accountId: string): number | undefined
  setFollowed(accountId: string, sequence: number): void
  atomically<T>(work: () => T): T
}

const columns = `sequence, at_ms AS atMs, kind, actor_kind AS actorKind, actor_name AS actorName, subject, summary, detail,
  task, links, previous_hash AS previousHash, hash`
const searched = `(summary LIKE ? ESCAPE '\\' OR kind LIKE ? ESCAPE '\\' OR coalesce(subject, '') LIKE ? ESCAPE '\\'
  OR detail LIKE ? ESCAPE '\\' OR actor_name LIKE ? ESCAPE '\\')`
const searchedColumns = 5

export function timelineRepository(database: Database): TimelineRepository {
  const add = database.prepare(
    `INSERT INTO timeline (sequence, at_ms, kind, actor_kind, actor_name, subject, summary, detail, task, links,
       previous_hash, hash)
     VALUES (:sequence, :atMs, :kind, :actorKind, :actorName, :subject, :summary, :detail, :task, :links,
       :previousHash, :hash)`,
  )
  const last = database.prepare<[], { sequence: number | null }>('SELECT max(sequence) AS sequence FROM timeline')
  const first = database.prepare<[], { sequence: number | null }>('SELECT min(sequence) AS sequence FROM timeline')
  const ofKind = database.prepare<[string, number], TimelineRow>(
    `SELECT ${columns} FROM timeline WHERE kind = ? AND sequence <= ? ORDER BY sequence DESC LIMIT 100`,
  )
  const firstSince = database.prepare<[number], { sequence: number }>(
    'SELECT sequence FROM timeline WHERE at_ms >= ? ORDER BY sequence LIMIT 1',
  )
  const allowRemoval = database.prepare<[number]>(
    `INSERT INTO timeline_cut (only, through_sequence) VALUES (1, ?)
     ON CONFLICT (only) DO UPDATE SET through_sequence = max(through_sequence, excluded.through_sequence)`,
  )
  const removeThrough = database.prepare<[number]>('DELETE FROM timeline WHERE sequence <= ?')
  const find = database.prepare<[number], TimelineRow>(`SELECT ${columns} FROM timeline WHERE sequence = ?`)
  const following = database.prepare<[number, number], TimelineRow>(
    `SELECT ${columns} FROM timeline WHERE sequence > ? ORDER BY sequence LIMIT ?`,
  )
  const firstOf = database.prepare<[string, string], TimelineRow>(
    `SELECT ${columns} FROM timeline
     WHERE sequence = (SELECT min(sequence) FROM timeline_links WHERE kind = ? AND id = ?)`,
  )
  const ofRequest = database.prepare<[string], TimelineRow>(
    `SELECT ${columns} FROM timeline
     WHERE sequence IN (SELECT sequence FROM timeline_links WHERE kind = 'intent' AND id = ?)
       AND (kind LIKE 'intent.%' OR kind IN ('registration.registered', 'registration.failed'))
     ORDER BY sequence DESC LIMIT 10`,
  )
  const ofTask = database.prepare<[string, number], TimelineRow>(
    `SELECT ${columns} FROM timeline WHERE task = ? ORDER BY sequence DESC LIMIT ?`,
  )
  const firstByRequester = database.prepare<[string], TimelineRow>(
    `SELECT ${columns} FROM timeline WHERE task = ? AND actor_kind IN ('client', 'tool', 'agent')
       AND kind NOT LIKE 'chat.%' ORDER BY sequence LIMIT 1`,
  )
  const newestTasks = database.prepare<[number, number], { task: string }>(
    `SELECT task FROM timeline WHERE task >= 'call:' AND task < 'chat;'
     GROUP BY task HAVING max(sequence) < ? ORDER BY max(sequence) DESC LIMIT ?`,
  )
  const followed = database.prepare<[string], { sequence: number }>(
    'SELECT sequence FROM followed_services WHERE account_id = ?',
  )
  const setFollowed = database.prepare<[string, number]>(
    `INSERT INTO followed_services (account_id, sequence) VALUES (?, ?)
     ON CONFLICT (account_id) DO UPDATE SET sequence = excluded.sequence`,
  )
  return {
    add: (row) => void add.run(row),
    lastSequence: () => last.get()?.sequence ?? 0,
    firstSequence: () => first.get()?.sequence ?? 0,
    ofKind: (kind, upTo) => ofKind.all(kind, upTo),
    firstSince: (atMs) => firstSince.get(atMs)?.sequence,
    allowRemoval: (through) => void allowRemoval.run(through),
    removeThrough: (through) => void removeThrough.run(through),
    find: (sequence) => find.get(sequence),
    following: (after, limit) => following.all(after, limit),
    matching(filter, { from, below, newestFirst, limit }) {
      const { conditions, values } = conditionsOf(filter)
      return database
        .prepare<(string | number)[], TimelineRow>(
          `SELECT ${columns} FROM timeline WHERE ${['sequence >= ?', 'sequence < ?', ...conditions].join(' AND ')}
           ORDER BY sequence ${newestFirst ? 'DESC' : 'ASC'} LIMIT ?`,
        )
        .all(from, below, ...values, limit)
    },
    ofTask: (task, most) => ofTask.all(task, most).reverse(),
    newestTasks: (below, limit) => newestTasks.all(below, limit).map(({ task }) => task),
    firstByRequester: (task) => firstByRequester.get(task),
    firstOf: ({ kind, id }) => firstOf.get(kind, id),
    ofRequest: (intentId) => ofRequest.all(intentId),
    followed: (accountId) => followed.get(accountId)?.sequence,
    setFollowed: (accountId, sequence) => void setFollowed.run(accountId, sequence),
    atomically: (work) => database.transaction(work).immediate(),
  }
}

function conditionsOf({ words, kinds, actor, task, link, fromMs, toMs }: RowFilter) {
  const conditions: string[] = []
  const values: (string | number)[] = []
  const need = (condition: string, ...given: (string | number)[]): void => {
    conditions.push(condition)
    values.push(...given)
  }
  const found = words.filter(hasLetters)
  if (found.length > 0) {
    need(
      'sequence IN (SELECT rowid FROM timeline_index WHERE timeline_index MATCH ?)',
      found.map(beginning).join(' AND '),
    )
  }
  for (const word of words) {
    if (!hasLetters(word)) need(searched, ...Array<string>(searchedColumns).fill(`%${escaped(word)}%`))
  }
  if (kinds.length > 0) {
    const oneOf = kinds.map((kind) => (kind.includes('.') ? 'kind = ?' : `kind LIKE ? || '.%' ESCAPE '\\'`))
    need(`(${oneOf.join(' OR ')})`, ...kinds.map((kind) => (kind.includes('.') ? kind : escaped(kind))))
  }
  if (actor !== undefined) need('actor_kind = ?', actor)
  if (task !== undefined) need('task = ?', task)
  if (link) need('sequence IN (SELECT sequence FROM timeline_links WHERE kind = ? AND id = ?)', link.kind, link.id)
  if (fromMs !== undefined) need('at_ms >= ?', fromMs)
  if (toMs !== undefined) need('at_ms < ?', toMs)
  return { conditions, values }
}

/** Without any there is no word to look up: `%`, `→`. */
function hasLetters(word: string): boolean {
  return /[\p{L}\p{N}]/u.test(word)
}

/** In the language of FTS5. Nothing in a word is an operator. */
function beginning(word: string): string {
  return `"${word.replaceAll('"', '""')}"*`
}

function escaped(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}
