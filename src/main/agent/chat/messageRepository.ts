import type { AnswerUsage, ChatFailure, Message } from '../../../shared/contract/chatMessages.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type MessageRow = {
  number: number
  id: string
  conversation: number
  /** Number of a message; 0: none. */
  parent: number
  branch: number
  position: number
  role: Message['role']
  state: Message['state']
  model: string | null
  text: string
  reasoning: string
  /** Of what is sent of it. */
  bytes: number
  tokens: number
  group_id: string | null
  request_id: string | null
  source_id: string | null
  /** JSON */
  error: string | null
  usage: string | null
  finish_reason: string | null
  omitted: number
  clamped: number | null
  warnings: string
  created_at_ms: number
  finished_at_ms: number | null
}

export type NewMessage = Omit<MessageRow, 'number' | 'branch' | 'position' | 'parent'> & {
  parent: Place | undefined
}
/** Where a message stands. */
export type Place = Pick<MessageRow, 'number' | 'branch' | 'position'>

export type Finished = {
  state: Message['state']
  text: string
  reasoning: string
  bytes: number
  tokens: number
  error: ChatFailure | null
  usage: AnswerUsage | null
  finishReason: string | null
  atMs: number
}

/** What an estimate needs of a message. */
export type MessageWeight = Pick<MessageRow, 'number' | 'position' | 'role' | 'tokens' | 'bytes'> & {
  images: number
  image_bytes: number
}

export type MessageRepository = {
  add(message: NewMessage): MessageRow
  find(id: string): MessageRow | undefined
  /** Oldest first. */
  numbered(numbers: readonly number[]): MessageRow[]
  /** Of the branch that ends there, the last `limit` of a smaller position than `before`, by position. */
  page(leaf: Place, before: number, limit: number): MessageRow[]
  /** Of the whole branch, by position. */
  weights(leaf: Place): MessageWeight[]
  /** The end of the newest branch through it. */
  newestLeaf(message: MessageRow): MessageRow
  /** By parent, oldest first: id and group. */
  children(conversation: number, parents: readonly number[]): { parent: number; id: string; number: number }[]
  ofGroups(groups: readonly string[]): MessageRow[]
  /** Of one request, oldest first. */
  ofRequest(conversation: number, requestId: string): MessageRow[]
  all(conversation: number): MessageRow[]
  ofSource(conversation: number): Map<string, Place>
  setState(number: number, state: 'streaming'): void
  setWarnings(number: number, warnings: readonly string[]): void
  /** Another piece, and what the answer costs so far. */
  receive(number: number, sequence: number, piece: { text: string; reasoning: string; usage: AnswerUsage }): void
  received(number: number): { text: string; reasoning: string }
  finish(number: number, finished: Finished): void
  /** Left by an earlier run. */
  unfinished(): MessageRow[]
  idOf(number: number): string | undefined
}

type Stretch = { branch: number; below: number; upto: number }

const fields = [
  'id',
  'conversation',
  'parent',
  'branch',
  'position',
  'role',
  'state',
  'model',
  'text',
  'reasoning',
  'bytes',
  'tokens',
  'group_id',
  'request_id',
  'source_id',
  'error',
  'usage',
  'finish_reason',
  'omitted',
  'clamped',
  'warnings',
  'created_at_ms',
  'finished_at_ms',
] as const

export function messageRepository(database: Database): MessageRepository {
  const add = database.prepare<[object], { number: number }>(
    `INSERT INTO chat_messages (${fields.join(', ')}) VALUES (${fields.map((it) => `@${it}`).join(', ')}) RETURNING number`,
  )
  const addBranch = database.prepare<[number, number | null, number], { number: number }>(
    'INSERT INTO chat_branches (conversation, from_branch, from_position) VALUES (?, ?, ?) RETURNING number',
  )
  const at = database.prepare<[number, number], MessageRow>(
    'SELECT * FROM chat_messages WHERE branch = ? AND position = ?',
  )
  const find = database.prepare<[string], MessageRow>('SELECT * FROM chat_messages WHERE id = ?')
  const byNumber = database.prepare<[number], { id: string }>('SELECT id FROM chat_messages WHERE number = ?')
  const numbered = database.prepare<[string], MessageRow>(
    'SELECT * FROM chat_messages WHERE number IN (SELECT value FROM json_each(?)) ORDER BY position',
  )
  /** From the end of a branch to the beginning of the conversation. */
  const stretches = database.prepare<[number, number], Stretch>(
    `WITH RECURSIVE way (branch, upto, step) AS (
       SELECT ?, ?, 0
       UNION ALL
       SELECT b.from_branch, b.from_position, step + 1 FROM way JOIN chat_branches b ON b.number = way.branch
       WHERE b.from_branch IS NOT NULL)
     SELECT way.branch, b.from_position AS below, way.upto FROM way JOIN chat_branches b ON b.number = way.branch
     ORDER BY step`,
  )
  const stretch = database.prepare<[number, number, number, number], MessageRow>(
    `SELECT * FROM chat_messages WHERE branch = ? AND position > ? AND position <= ? ORDER BY position DESC LIMIT ?`,
  )
  const weights = database.prepare<[number, number, number], MessageWeight>(
    `SELECT m.number, m.position, m.role, m.tokens, m.bytes, count(a.id) AS images, coalesce(sum(a.size), 0) AS image_bytes
     FROM chat_messages m LEFT JOIN chat_message_attachments u ON u.message = m.number
       LEFT JOIN chat_attachments a ON a.id = u.attachment_id AND a.kind = 'image'
     WHERE m.branch = ? AND m.position > ? AND m.position <= ? GROUP BY m.position ORDER BY m.position DESC`,
  )
  const firstFork = database.prepare<[number, number], { position: number | null }>(
    'SELECT min(from_position) AS position FROM chat_branches WHERE from_branch = ? AND from_position >= ?',
  )
  const tail = database.prepare<[number], MessageRow>(
    'SELECT * FROM chat_messages WHERE branch = ? ORDER BY position DESC LIMIT 1',
  )
  const childrenOf = database.prepare<[number, number], MessageRow & { grown: 0 | 1 }>(
    `SELECT *, EXISTS (SELECT 1 FROM chat_messages c WHERE c.conversation = m.conversation AND c.parent = m.number) AS grown
     FROM chat_messages m WHERE conversation = ? AND parent = ? ORDER BY number`,
  )
  const children = database.prepare<[number, string], { parent: number; id: string; number: number }>(
    `SELECT parent, id, number FROM chat_messages
     WHERE conversation = ? AND parent IN (SELECT value FROM json_each(?)) ORDER BY number`,
  )
  const ofGroups = database.prepare<[string], MessageRow>(
    'SELECT * FROM chat_messages WHERE group_id IN (SELECT value FROM json_each(?)) ORDER BY number',
  )
  const ofRequest = database.prepare<[number, string], MessageRow>(
    'SELECT * FROM chat_messages WHERE conversation = ? AND request_id = ? ORDER BY number',
  )
  const all = database.prepare<[number], MessageRow>(
    'SELECT * FROM chat_messages WHERE conversation = ? ORDER BY number',
  )
  const ofSource = database.prepare<[number], Place & { source_id: string }>(
    'SELECT number, branch, position, source_id FROM chat_messages WHERE conversation = ? AND source_id IS NOT NULL',
  )
  const setState = database.prepare<[string, number]>('UPDATE chat_messages SET state = ? WHERE number = ?')
  const setWarnings = database.prepare<[string, number]>('UPDATE chat_messages SET warnings = ? WHERE number = ?')
  const receive = database.prepare<[number, number, string, string]>('INSERT INTO chat_received VALUES (?, ?, ?, ?)')
  const setUsage = database.prepare<[string, number]>('UPDATE chat_messages SET usage = ? WHERE number = ?')
  const received = database.prepare<[number], { text: string; reasoning: string }>(
    'SELECT text, reasoning FROM chat_received WHERE message = ? ORDER BY sequence',
  )
  const forgetReceived = database.prepare<[number]>('DELETE FROM chat_received WHERE message = ?')
  const finish = database.prepare<[object]>(
    `UPDATE chat_messages SET state = @state, text = @text, reasoning = @reasoning, bytes = @bytes, tokens = @tokens,
       error = @error, usage = @usage, finish_reason = @finishReason, finished_at_ms = @atMs WHERE number = @number`,
  )
  const unfinished = database.prepare<[], MessageRow>('SELECT * FROM chat_messages WHERE finished_at_ms IS NULL')
  const branchOf = (conversation: number, parent: Place | undefined): number => {
    if (parent && !at.get(parent.branch, parent.position + 1)) return parent.branch
    const row = addBranch.get(conversation, parent?.branch ?? null, parent?.position ?? 0)
    if (!row) throw new Error('A branch was not added.')
    return row.number
  }

  return {
    add({ parent, ...message }) {
      const row = {
        ...message,
        parent: parent?.number ?? 0,
        branch: branchOf(message.conversation, parent),
        position: (parent?.position ?? 0) + 1,
      }
      const added = add.get(row)
      if (!added) throw new Error('A message was not added.')
      return { ...row, number: added.number }
    },
    find: (id) => find.get(id),
    numbered: (numbers) => numbered.all(JSON.stringify(numbers)),
    page(leaf, before, limit) {
      const rows: MessageRow[] = []
      for (const { branch, below, upto } of stretches.all(leaf.branch, leaf.position)) {
        const last = Math.min(upto, before - 1)
        if (last > below) rows.push(...stretch.all(branch, below, last, limit - rows.length))
        if (rows.length >= limit) break
      }
      return rows.reverse()
    },
    weights: (leaf) =>
      stretches
        .all(leaf.branch, leaf.position)
        .flatMap(({ branch, below, upto }) => weights.all(branch, below, upto))
        .reverse(),
    newestLeaf(message) {
      let leaf = message
      for (;;) {
        const fork = firstFork.get(leaf.branch, leaf.position)?.position ?? null
        if (fork === null) return tail.get(leaf.branch) ?? leaf
        const forked = fork === leaf.position ? leaf : at.get(leaf.branch, fork)
        const next = forked && newestOf(childrenOf.all(forked.conversation, forked.number))
        if (!next) return forked ?? leaf
        leaf = next
      }
    },
    children: (conversation, parents) => children.all(conversation, JSON.stringify(parents)),
    ofGroups: (groups) => ofGroups.all(JSON.stringify(groups)),
    ofRequest: (conversation, requestId) => ofRequest.all(conversation, requestId),
    all: (conversation) => all.all(conversation),
    ofSource: (conversation) =>
      new Map(ofSource.all(conversation).map(({ source_id, ...place }) => [source_id, place])),
    setState: (number, state) => void setState.run(state, number),
    setWarnings: (number, warnings) => void setWarnings.run(JSON.stringify(warnings), number),
    receive(number, sequence, { text, reasoning, usage }) {
      receive.run(number, sequence, text, reasoning)
      setUsage.run(JSON.stringify(usage), number)
    },
    received(number) {
      const pieces = received.all(number)
      return {
        text: pieces.map((it) => it.text).join(''),
        reasoning: pieces.map((it) => it.reasoning).join(''),
      }
    },
    finish(number, { error, usage, ...finished }) {
      finish.run({
        ...finished,
        number,
        error: error && JSON.stringify(error),
        usage: usage && JSON.stringify(usage),
      })
      forgetReceived.run(number)
    },
    unfinished: () => unfinished.all(),
    idOf: (number) => byNumber.get(number)?.id,
  }
}

/** Of answers that were asked for at once, one that was gone on from, else the first. */
function newestOf<T extends MessageRow & { grown: 0 | 1 }>(children: readonly T[]): T | undefined {
  const newest = children.at(-1)
  if (!newest || newest.group_id === null) return newest
  const group = children.filter((it) => it.group_id === newest.group_id)
  return group.findLast((it) => it.grown === 1) ?? group[0]
}
