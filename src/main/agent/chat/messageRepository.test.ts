import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ConversationId, noParameters } from '#shared/contract/chats.ts'
import { noTools } from '#shared/contract/chatTools.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { type ChatStore, createChatStore } from './chatStore.ts'
import type { MessageRow } from './messageRepository.ts'

let database: Database
let store: ChatStore
let conversation: number

beforeEach(() => {
  database = openDatabase(join(temporaryFolder('messages'), 'agent.sqlite'))
  migrate(database, agentMigrations)
  store = createChatStore(database)
  conversation = store.conversations.add({
    id: 'conv_1' as ConversationId,
    title: 'One',
    titled: true,
    folderId: null,
    pinned: false,
    models: [],
    systemPrompt: '',
    parameters: noParameters,
    tools: noTools,
    limits: null,
    notice: null,
    leafId: null,
    messageCount: 0,
    forkedFrom: null,
    source: null,
    createdAtMs: 0,
    updatedAtMs: 0,
    deletedAtMs: null,
  }).number
})
afterEach(() => {
  database.close()
})

const add = (parent: MessageRow | undefined, text: string, group: string | null = null): MessageRow =>
  store.messages.add({
    id: `msg_${text}`,
    conversation,
    parent,
    role: (parent?.position ?? 0) % 2 === 0 ? 'user' : 'assistant',
    state: 'complete',
    model: null,
    text,
    reasoning: '',
    bytes: text.length,
    tokens: 1,
    group_id: group,
    request_id: null,
    source_id: null,
    error: null,
    usage: null,
    finish_reason: null,
    omitted: 0,
    clamped: null,
    warnings: '[]',
    created_at_ms: 0,
    finished_at_ms: 1,
  })
const chain = (from: MessageRow | undefined, ...texts: string[]): MessageRow =>
  texts.reduce<MessageRow | undefined>((parent, text) => add(parent, text), from) as MessageRow
const page = (leaf: MessageRow, before = leaf.position + 1, limit = 100) =>
  store.messages.page(leaf, before, limit).map(({ text }) => text)
const requireMessage = (text: string) => store.messages.find(`msg_${text}`) as MessageRow

test('reads a branch in pages from its end or any position', () => {
  const leaf = chain(undefined, 'a', 'b', 'c', 'd', 'e')
  expect(page(leaf)).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(page(leaf, 6, 2)).toEqual(['d', 'e'])
  expect(page(leaf, 4, 2)).toEqual(['b', 'c'])
  expect(page(leaf, 1, 2)).toEqual([])
  expect(page(requireMessage('c'))).toEqual(['a', 'b', 'c'])
})

test('nested branches each have separate messages', () => {
  const first = chain(undefined, 'a', 'b', 'c', 'd')
  const second = chain(requireMessage('b'), 'c2', 'd2', 'e2')
  const third = chain(requireMessage('d2'), 'e3')
  const fourth = chain(requireMessage('a'), 'b4')
  const otherChain = chain(undefined, 'A', 'B')
  expect(page(first)).toEqual(['a', 'b', 'c', 'd'])
  expect(page(second)).toEqual(['a', 'b', 'c2', 'd2', 'e2'])
  expect(page(third)).toEqual(['a', 'b', 'c2', 'd2', 'e3'])
  expect(page(third, 5, 3)).toEqual(['b', 'c2', 'd2'])
  expect(page(fourth)).toEqual(['a', 'b4'])
  expect(page(otherChain)).toEqual(['A', 'B'])
  expect(store.messages.weights(third).map(({ position }) => position)).toEqual([1, 2, 3, 4, 5])
  expect(store.messages.children(conversation, [0, requireMessage('b').number]).map(({ id }) => id)).toEqual([
    'msg_a',
    'msg_c',
    'msg_c2',
    'msg_A',
  ])
})

test('finds the leaf of the newest branch through a message', () => {
  chain(undefined, 'a', 'b', 'c', 'd')
  chain(requireMessage('b'), 'c2', 'd2')
  expect(store.messages.newestLeaf(requireMessage('a')).text).toBe('d2')
  expect(store.messages.newestLeaf(requireMessage('c')).text).toBe('d')
  chain(requireMessage('d'), 'e')
  expect(store.messages.newestLeaf(requireMessage('a')).text).toBe('d2')
  expect(store.messages.newestLeaf(requireMessage('d2')).text).toBe('d2')
})

test('among parallel replies selects the continued one, else the first', () => {
  const question = chain(undefined, 'q')
  for (const name of ['x', 'y', 'z']) add(question, name, 'grp_1')
  expect(store.messages.newestLeaf(question).text).toBe('x')
  add(requireMessage('y'), 'more')
  expect(store.messages.newestLeaf(question).text).toBe('more')
})

test('reads any page of a long or heavily forked branch in one short query', () => {
  store.atomically(() => {
    let leaf: MessageRow | undefined
    for (let index = 0; index < 10_000; index += 1) leaf = add(leaf, `m${index}`)
    let forked: MessageRow | undefined
    for (let index = 0; index < 2_000; index += 1) {
      add(forked, `unused${index}`)
      forked = add(forked, `f${index}`)
    }
  })
  expect(page(requireMessage('m9999'), 10_001, 50)).toHaveLength(50)
  expect(page(requireMessage('m9999'), 5_001, 3)).toEqual(['m4997', 'm4998', 'm4999'])
  expect(page(requireMessage('f1999'), 1_001, 3)).toEqual(['f997', 'f998', 'f999'])
  expect(store.messages.newestLeaf(requireMessage('m0')).text).toBe('m9999')
  const plan = database
    .prepare<[], { detail: string }>(
      'EXPLAIN QUERY PLAN SELECT * FROM chat_messages WHERE branch = 1 AND position > 0 AND position <= 9 ORDER BY position DESC LIMIT 50',
    )
    .all()
  expect(plan.map(({ detail }) => detail)).toEqual([expect.stringMatching(/^SEARCH .* USING INDEX .*branch=\?/)])
})

test('reassembles the partial output left by a crash', () => {
  const row = chain(undefined, 'q')
  const usage = {
    input_tokens: 1,
    cached_tokens: 0,
    output_tokens: 1,
    reasoning_tokens: 0,
    cost_micro_usd: 1,
    saved_micro_usd: 0,
    estimated: true,
  }
  for (let index = 0; index < 12; index += 1)
    store.messages.receive(row.number, index, { text: `${index} `, reasoning: '-', usage })
  expect(store.messages.readOutput(row.number)).toEqual({
    text: '0 1 2 3 4 5 6 7 8 9 10 11 ',
    reasoning: '-'.repeat(12),
  })
})
