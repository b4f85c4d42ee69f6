import type { ChatFailure, Message, MessageUsage } from '#shared/contract/chatMessages.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, nullable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

const columns = {
  id: text(),
  conversation: number(),
  /** Number of the parent message, or 0 without a parent. */
  parent: number(),
  branch: number(),
  position: number(),
  role: text<Message['role']>(),
  state: text<Message['state']>(),
  model: nullable(text()),
  text: text(),
  reasoning: text(),
  /** Size as sent to the model, including attachments as text. */
  bytes: number(),
  /** Estimated number of tokens. */
  tokens: number(),
  group_id: nullable(text()),
  request_id: nullable(text()),
  /** Id in the export from which it was imported. */
  source_id: nullable(text()),
  /** JSON */
  error: nullable(text()),
  /** JSON */
  usage: nullable(text()),
  finish_reason: nullable(text()),
  omitted: number(),
  clamped: nullable(number()),
  /** JSON */
  warnings: text(),
  created_at_ms: number(),
  finished_at_ms: nullable(number()),
}
const newMessages = defineTable('chat_messages', columns)
const messages = defineTable('chat_messages', { number: number(), ...columns })
export type MessageRow = RowOf<typeof messages>

export type NewMessage = Omit<MessageRow, 'number' | 'branch' | 'position' | 'parent'> & {
  parent: BranchPosition | undefined
}
export type BranchPosition = Pick<MessageRow, 'number' | 'branch' | 'position'>

export type Finished = {
  state: Message['state']
  text: string
  reasoning: string
  bytes: number
  tokens: number
  error: ChatFailure | null
  usage: MessageUsage | null
  finishReason: string | null
  atMs: number
}

/** Input for token estimates. */
export type MessageWeight = Pick<MessageRow, 'number' | 'position' | 'role' | 'tokens' | 'bytes'> & {
  images: number
  image_bytes: number
}

export type MessageRepository = {
  add(message: NewMessage): MessageRow
  find(id: string): MessageRow | undefined
  /** Oldest first. */
  findByNumbers(numbers: readonly number[]): MessageRow[]
  /** Returns the last `limit` messages below position `before`, in the branch that ends in `leaf`, by position. */
  page(leaf: BranchPosition, before: number, limit: number): MessageRow[]
  /** Weights of the whole branch, by position. */
  weights(leaf: BranchPosition): MessageWeight[]
  /** Returns the last message of the newest branch through the message. */
  newestLeaf(message: MessageRow): MessageRow
  /** Oldest first. */
  children(conversation: number, parents: readonly number[]): { parent: number; id: string; number: number }[]
  ofGroups(groups: readonly string[]): MessageRow[]
  /** Messages of one request, oldest first. */
  ofRequest(conversation: number, requestId: string): MessageRow[]
  all(conversation: number): MessageRow[]
  ofSource(conversation: number): Map<string, BranchPosition>
  setState(number: number, state: 'streaming'): void
  setWarnings(number: number, warnings: readonly string[]): void
  /** Appends a delta and replaces the current usage. */
  receive(number: number, sequence: number, piece: { text: string; reasoning: string; usage: MessageUsage }): void
  readOutput(number: number): { text: string; reasoning: string }
  finish(number: number, finished: Finished): void
  /** Messages left unfinished by an earlier process. */
  listUnfinished(): MessageRow[]
  findId(number: number): string | undefined
}

type Stretch = { branch: number; below: number; upto: number }

const selection = `SELECT ${messages.selection()} FROM chat_messages`

export function createMessageRepository(database: Database): MessageRepository {
  const { createBranch, ...branches } = createBranchQueries(database)
  const add = database.prepare<[Params<keyof RowOf<typeof newMessages>>], { number: number }>(
    `${newMessages.insert} RETURNING number`,
  )
  return {
    add({ parent, ...message }) {
      const row = {
        ...message,
        parent: parent?.number ?? 0,
        branch: createBranch(message.conversation, parent),
        position: (parent?.position ?? 0) + 1,
      }
      const added = add.get(newMessages.params(row))
      if (!added) throw new Error('A message was not added.')
      return { ...row, number: added.number }
    },
    ...createMessageReads(database),
    ...branches,
    ...createMessageWrites(database),
  }
}

type MessageReads = Pick<
  MessageRepository,
  | ('find' | 'findByNumbers' | 'children' | 'ofGroups' | 'ofRequest')
  | ('all' | 'ofSource' | 'listUnfinished' | 'findId')
>

function createMessageReads(database: Database): MessageReads {
  const find = database.prepare<[Params<'id'>], StoredRow>(`${selection} WHERE id = @id`)
  const byNumber = database.prepare<[Params<'number'>], { id: string }>(
    'SELECT id FROM chat_messages WHERE number = @number',
  )
  const numbered = database.prepare<[Params<'numbers'>], StoredRow>(
    `${selection} WHERE number IN (SELECT value FROM json_each(@numbers)) ORDER BY position`,
  )
  const children = database.prepare<[Params<'conversation' | 'parents'>], Pick<MessageRow, 'parent' | 'id' | 'number'>>(
    `SELECT parent, id, number FROM chat_messages
     WHERE conversation = @conversation AND parent IN (SELECT value FROM json_each(@parents)) ORDER BY number`,
  )
  const ofGroups = database.prepare<[Params<'groups'>], StoredRow>(
    `${selection} WHERE group_id IN (SELECT value FROM json_each(@groups)) ORDER BY number`,
  )
  const ofRequest = database.prepare<[Params<'conversation' | 'requestId'>], StoredRow>(
    `${selection} WHERE conversation = @conversation AND request_id = @requestId ORDER BY number`,
  )
  const all = database.prepare<[Params<'conversation'>], StoredRow>(
    `${selection} WHERE conversation = @conversation ORDER BY number`,
  )
  const ofSource = database.prepare<[Params<'conversation'>], BranchPosition & { source_id: string }>(
    `SELECT number, branch, position, source_id FROM chat_messages
     WHERE conversation = @conversation AND source_id IS NOT NULL`,
  )
  const unfinished = database.prepare<[], StoredRow>(`${selection} WHERE finished_at_ms IS NULL`)
  return {
    find: (id) => toOptionalMessage(find.get({ id })),
    findByNumbers: (numbers) => numbered.all({ numbers: JSON.stringify(numbers) }).map(messages.fromRow),
    children: (conversation, parents) => children.all({ conversation, parents: JSON.stringify(parents) }),
    ofGroups: (groups) => ofGroups.all({ groups: JSON.stringify(groups) }).map(messages.fromRow),
    ofRequest: (conversation, requestId) => ofRequest.all({ conversation, requestId }).map(messages.fromRow),
    all: (conversation) => all.all({ conversation }).map(messages.fromRow),
    ofSource: (conversation) =>
      new Map(ofSource.all({ conversation }).map(({ source_id, ...position }) => [source_id, position])),
    listUnfinished: () => unfinished.all().map(messages.fromRow),
    findId: (number) => byNumber.get({ number })?.id,
  }
}

type BranchQueries = Pick<MessageRepository, 'page' | 'weights' | 'newestLeaf'> & {
  /**
   * Returns the branch for a message after `parent`: a new one if the parent is undefined or already has a successor.
   */
  createBranch(conversation: number, parent: BranchPosition | undefined): number
}

function createBranchQueries(database: Database): BranchQueries {
  const addBranch = database.prepare<[Params<'conversation' | 'branch' | 'position'>], { number: number }>(
    `INSERT INTO chat_branches (conversation, from_branch, from_position) VALUES (@conversation, @branch, @position)
     RETURNING number`,
  )
  const findAt = database.prepare<[Params<'branch' | 'position'>], StoredRow>(
    `${selection} WHERE branch = @branch AND position = @position`,
  )
  /** Sections of a branch, from its end to the beginning of the conversation. */
  const stretches = database.prepare<[Params<'branch' | 'position'>], Stretch>(
    `WITH RECURSIVE way (branch, upto, step) AS (
       SELECT @branch, @position, 0
       UNION ALL
       SELECT b.from_branch, b.from_position, step + 1 FROM way JOIN chat_branches b ON b.number = way.branch
       WHERE b.from_branch IS NOT NULL)
     SELECT way.branch, b.from_position AS below, way.upto FROM way JOIN chat_branches b ON b.number = way.branch
     ORDER BY step`,
  )
  const stretch = database.prepare<[Params<keyof Stretch | 'limit'>], StoredRow>(
    `${selection} WHERE branch = @branch AND position > @below AND position <= @upto
     ORDER BY position DESC LIMIT @limit`,
  )
  const weights = database.prepare<[Params<keyof Stretch>], MessageWeight>(
    `SELECT m.number, m.position, m.role, m.tokens, m.bytes, count(a.id) AS images, coalesce(sum(a.size), 0) AS image_bytes
     FROM chat_messages m LEFT JOIN chat_message_attachments u ON u.message = m.number
       LEFT JOIN chat_attachments a ON a.id = u.attachment_id AND a.kind = 'image'
     WHERE m.branch = @branch AND m.position > @below AND m.position <= @upto
     GROUP BY m.position ORDER BY m.position DESC`,
  )
  const firstFork = database.prepare<[Params<'branch' | 'position'>], { position: number | null }>(
    `SELECT min(from_position) AS position FROM chat_branches
     WHERE from_branch = @branch AND from_position >= @position`,
  )
  const tail = database.prepare<[Params<'branch'>], StoredRow>(
    `${selection} WHERE branch = @branch ORDER BY position DESC LIMIT 1`,
  )
  const childrenOf = database.prepare<[Params<'conversation' | 'parent'>], StoredRow & { grown: 0 | 1 }>(
    `SELECT ${messages.selection('m')},
       EXISTS (SELECT 1 FROM chat_messages c WHERE c.conversation = m.conversation AND c.parent = m.number) AS grown
     FROM chat_messages m WHERE conversation = @conversation AND parent = @parent ORDER BY number`,
  )
  return {
    createBranch(conversation, parent) {
      if (parent && !findAt.get({ branch: parent.branch, position: parent.position + 1 })) return parent.branch
      const row = addBranch.get({ conversation, branch: parent?.branch ?? null, position: parent?.position ?? 0 })
      if (!row) throw new Error('A branch was not added.')
      return row.number
    },
    page({ branch: end, position }, before, limit) {
      const rows: MessageRow[] = []
      for (const { branch, below, upto } of stretches.all({ branch: end, position })) {
        const last = Math.min(upto, before - 1)
        if (last > below) {
          const part = stretch.all({ branch, below, upto: last, limit: limit - rows.length })
          rows.push(...part.map(messages.fromRow))
        }
        if (rows.length >= limit) break
      }
      return rows.reverse()
    },
    weights: ({ branch, position }) =>
      stretches
        .all({ branch, position })
        .flatMap((part) => weights.all(part))
        .reverse(),
    newestLeaf(message) {
      let leaf = message
      for (;;) {
        const { branch, position } = leaf
        const fork = firstFork.get({ branch, position })?.position ?? null
        if (fork === null) return toOptionalMessage(tail.get({ branch })) ?? leaf
        const forked = fork === position ? leaf : toOptionalMessage(findAt.get({ branch, position: fork }))
        const next =
          forked && selectNewest(childrenOf.all({ conversation: forked.conversation, parent: forked.number }))
        if (!next) return forked ?? leaf
        leaf = next
      }
    },
  }
}

type MessageWrites = Pick<MessageRepository, 'setState' | 'setWarnings' | 'receive' | 'readOutput' | 'finish'>

/** Creates the writes that change an existing message and append deltas of its output. */
function createMessageWrites(database: Database): MessageWrites {
  const prepareUpdate = <F extends keyof MessageRow>(...fields: F[]) =>
    database.prepare<[Params<F | 'number'>]>(
      `UPDATE chat_messages SET ${messages.assignments(fields)} WHERE number = @number`,
    )
  const setState = prepareUpdate('state')
  const setWarnings = prepareUpdate('warnings')
  const setUsage = prepareUpdate('usage')
  const finish = prepareUpdate(
    ...(['state', 'text', 'reasoning', 'bytes', 'tokens'] as const),
    ...(['error', 'usage', 'finish_reason', 'finished_at_ms'] as const),
  )
  const receive = database.prepare<[Params<'number' | 'sequence' | 'text' | 'reasoning'>]>(
    `INSERT INTO chat_received (message, sequence, text, reasoning) VALUES (@number, @sequence, @text, @reasoning)`,
  )
  const received = database.prepare<[Params<'number'>], { text: string; reasoning: string }>(
    'SELECT text, reasoning FROM chat_received WHERE message = @number ORDER BY sequence',
  )
  const removeReceived = database.prepare<[Params<'number'>]>('DELETE FROM chat_received WHERE message = @number')
  return {
    setState: (number, state) => void setState.run({ number, state }),
    setWarnings: (number, warnings) => void setWarnings.run({ number, warnings: JSON.stringify(warnings) }),
    receive(number, sequence, { text, reasoning, usage }) {
      receive.run({ number, sequence, text, reasoning })
      setUsage.run({ number, usage: JSON.stringify(usage) })
    },
    readOutput(number) {
      const deltas = received.all({ number })
      return {
        text: deltas.map(({ text }) => text).join(''),
        reasoning: deltas.map(({ reasoning }) => reasoning).join(''),
      }
    },
    finish(number, { error, usage, finishReason, atMs, ...content }) {
      finish.run({
        ...content,
        number,
        error: error && JSON.stringify(error),
        usage: usage && JSON.stringify(usage),
        finish_reason: finishReason,
        finished_at_ms: atMs,
      })
      removeReceived.run({ number })
    },
  }
}

function toOptionalMessage(row: StoredRow | undefined): MessageRow | undefined {
  return row && messages.fromRow(row)
}

/** Returns the newest child. Among alternatives: the last one with children, otherwise the first one. */
function selectNewest(rows: readonly (StoredRow & { grown: 0 | 1 })[]): MessageRow | undefined {
  const children = rows.map((row) => ({ message: messages.fromRow(row), isGrown: row.grown === 1 }))
  const newest = children.at(-1)?.message
  if (!newest || newest.group_id === null) return newest
  const group = children.filter(({ message }) => message.group_id === newest.group_id)
  return (group.findLast(({ isGrown }) => isGrown) ?? group[0])?.message
}
