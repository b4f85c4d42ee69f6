import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSerialQueue } from '#platform/concurrency/serialQueue.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import {
  chatGptConversation,
  chatGptNode,
  claudeConversation,
  libreChatConversation,
  openWebUiConversation,
} from '#test/support/fixtures/chatExports.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { type ChatStore, createChatStore } from '../chatStore.ts'
import { importChats } from './importChats.ts'

let database: Database
let store: ChatStore
let ids = 0
const runExclusive = createSerialQueue()
const nowMs = Date.parse('2026-11-22T12:00:00Z')

beforeEach(() => {
  database = openDatabase(join(temporaryFolder('imports'), 'agent.sqlite'))
  migrate(database, agentMigrations)
  store = createChatStore(database)
})
afterEach(() => {
  database.close()
})

async function* chunk(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < bytes.length; offset += 65_536) yield bytes.subarray(offset, offset + 65_536)
}
const take = (content: unknown) => {
  const bytes = Buffer.isBuffer(content)
    ? content
    : Buffer.from(typeof content === 'string' ? content : JSON.stringify(content))
  return importChats(
    {
      store,
      publish: () => {},
      recordActivity: () => {},
      newId: () => (ids++).toString(16).padStart(24, '0'),
      now: () => nowMs,
      runExclusive,
    },
    chunk(bytes),
  )
}
const conversations = () => store.conversations.list({ folderId: undefined, pinned: undefined }, undefined, 100)
/** Returns the displayed branch. */
const branch = (index = 0) => {
  const leaf = store.messages.find(conversations()[index]?.leafId ?? '')
  if (!leaf) throw new Error('Nothing is shown.')
  return store.messages.page(leaf, leaf.position + 1, 100)
}
const said = (index = 0) => branch(index).map(({ role, text }) => [role, text])

describe('imports an export from', () => {
  test('ChatGPT with its branches, reasoning and selected branch', async () => {
    expect(await take([chatGptConversation()])).toEqual({
      format: 'chatgpt',
      found: 1,
      imported: 1,
      extended: 0,
      unchanged: 0,
      messages: 5,
      skipped: [],
      skipped_total: 0,
    })
    const [conversation] = conversations()
    expect(conversation).toMatchObject({
      title: 'Capitals',
      source: { format: 'chatgpt', id: 'chat-1' },
      messageCount: 5,
      createdAtMs: 1_706_745_600_500,
    })
    expect(said()).toEqual([
      ['user', 'What is the capital of France?'],
      ['assistant', 'Paris.'],
      ['user', 'And of Spain?\n\n[image]'],
      ['assistant', 'Madrid.'],
    ])
    expect(branch()[3]).toMatchObject({
      reasoning: 'Spain is in Europe.',
      model: 'gpt-4o',
      created_at_ms: 1_706_745_640_000,
    })
    expect(store.messages.all(conversation?.number ?? 0).map(({ text }) => text)).toContain('And of Italy?')
  })

  test('Claude in order with reasoning and text attachments', async () => {
    expect(await take([claudeConversation()])).toMatchObject({ format: 'claude', imported: 1, messages: 3 })
    expect(said()).toEqual([
      ['user', '<attachment name="notes.txt">\nSome notes.\n</attachment>\n\nSum this up.'],
      ['assistant', 'Short notes.'],
      ['user', 'Thanks!'],
    ])
    expect(branch()[1]).toMatchObject({
      reasoning: 'They are short.',
      created_at_ms: Date.parse('2025-05-01T10:00:05Z'),
    })
  })

  test('LibreChat as a tree or as a list', async () => {
    const tree = libreChatConversation()
    expect(await take(tree)).toMatchObject({ format: 'librechat', imported: 1, messages: 4 })
    expect(conversations()[0]).toMatchObject({ title: 'Fuel', systemPrompt: 'Be exact.' })
    expect(said()).toEqual([
      ['user', 'How much?'],
      ['assistant', 'About 9 l.'],
      ['user', 'Sure?'],
    ])
    const flat = {
      conversationId: 'flat',
      title: 'Flat',
      messages: [
        { messageId: 'b', parentMessageId: 'a', isCreatedByUser: false, text: 'Two', model: 'gpt-4' },
        { messageId: 'a', parentMessageId: '00000000-0000-0000-0000-000000000000', isCreatedByUser: true, text: 'One' },
      ],
    }
    expect(await take(flat)).toMatchObject({ messages: 2 })
    const flatIndex = conversations().findIndex(({ title }) => title === 'Flat')
    expect(said(flatIndex)).toEqual([['user', 'One']])
  })

  test('Open WebUI without the reasoning folded into its text', async () => {
    expect(await take([openWebUiConversation()])).toMatchObject({ format: 'open-webui', imported: 1, messages: 2 })
    expect(said()).toEqual([
      ['user', 'What is 15 * 17?'],
      ['assistant', '255'],
    ])
    expect(branch()[1]).toMatchObject({ reasoning: 'Let me see > that', model: 'deepseek-r1' })
  })
})

test('importing a file again changes nothing and an extended file adds only new messages', async () => {
  await take([chatGptConversation()])
  expect(await take([chatGptConversation()])).toMatchObject({ imported: 0, unchanged: 1, messages: 0 })
  const grown = chatGptConversation()
  grown.mapping.new = chatGptNode('new', 'a2', 'user', 'And of Portugal?')
  grown.current_node = 'new'
  expect(await take([grown])).toMatchObject({ imported: 0, extended: 1, messages: 1 })
  expect(said().at(-1)).toEqual(['user', 'And of Portugal?'])
  expect(conversations()).toMatchObject([{ messageCount: 6 }])
})

test('importing again restores a deleted conversation', async () => {
  await take([chatGptConversation()])
  const [conversation] = conversations()
  if (!conversation) throw new Error('Nothing came.')
  store.conversations.save({ ...conversation, deletedAtMs: nowMs })
  expect(await take([chatGptConversation()])).toMatchObject({ imported: 1, messages: 0 })
  expect(conversations()).toHaveLength(1)
})

describe('a hostile file', () => {
  test.each([
    ['', 'The file is empty.'],
    [Buffer.from('PK\u0003\u0004rest'), 'ZIP archive'],
    [Buffer.from([0xff, 0xfe, 0x00]), 'not UTF-8 text'],
    ['[{"mapping":', 'not valid JSON, or its download'],
    ['"text"', 'not a supported export'],
    ['[]', 'not a supported export'],
    ['[1, null, "x", [[]]]', 'not a supported export'],
    ['{"conversations": {"length": 9e15}}', 'not a supported export'],
    [`[${'[],'.repeat(7_000_000)}[]]`, 'too large for an export'],
    [`${'['.repeat(200_000)}${']'.repeat(200_000)}`, ''],
  ])('%# is rejected with the reason', async (content, sentence) => {
    const refused = expect.objectContaining({ code: 'chat/import', message: expect.stringContaining(sentence) })
    await expect(take(content)).rejects.toEqual(refused)
    expect(conversations()).toEqual([])
  })

  test('with cycles, missing parents and duplicate ids is imported as far as possible', async () => {
    const conversation = {
      id: 'bad',
      title: 'Bad \u0000\u202e title'.repeat(100),
      mapping: {
        a: chatGptNode('a', 'b', 'user', 'A'),
        b: chatGptNode('b', 'a', 'assistant', 'B'),
        c: chatGptNode('c', 'c', 'user', 'C'),
        d: chatGptNode('d', 'nobody', 'user', 'D'),
        e: null,
        f: { message: { author: 7, content: { content_type: 'text', parts: { x: 1 } } } },
        constructor: chatGptNode('constructor', '__proto__', 'user', 'E \ud800'),
      },
      current_node: 'e',
    }
    expect(await take([conversation])).toMatchObject({ imported: 1, messages: 5 })
    const [stored] = conversations()
    expect([...(stored?.title ?? '')].length).toBeLessThanOrEqual(200)
    expect(stored?.title).not.toMatch(/\p{Cc}/u)
    const texts = store.messages.all(stored?.number ?? 0).map(({ text }) => text)
    expect(texts.sort()).toEqual(['A', 'B', 'C', 'D', 'E \ufffd'])
  })

  test('with nesting deeper than the call stack is imported', async () => {
    const depth = 20_000
    let children = '[]'
    const open = (index: number) =>
      `[{"messageId":"m${index}","isCreatedByUser":${index % 2 === 0},"text":"t${index}","children":`
    children = `${Array.from({ length: depth }, (_, index) => open(index)).join('')}[]${'}]'.repeat(depth)}`
    const file = `{"conversationId":"deep","title":"Deep","recursive":true,"messagesTree":${children}}`
    expect(await take(file)).toMatchObject({ imported: 1, messages: depth })
    expect(branch()).toHaveLength(100)
    expect(branch().at(-1)?.position).toBe(depth)
    // Deletion also removes the imported data.
    const [conversation] = conversations()
    if (conversation) store.conversations.save({ ...conversation, deletedAtMs: 1 })
    expect(store.conversations.purge(2)).toHaveLength(1)
    expect(database.prepare('SELECT count(*) AS count FROM chat_messages').get()).toEqual({ count: 0 })
  })

  test('skips only invalid conversations and lists them', async () => {
    const outcome = await take([
      { title: 'No id', mapping: {} },
      { id: 'empty', title: 'Empty', mapping: { a: chatGptNode('a', '', 'system', 'Hidden') } },
      { id: 'long', title: 'Long', mapping: { a: chatGptNode('a', '', 'user', 'x'.repeat(4_000_001)) } },
      { title: 'Other' },
      chatGptConversation(),
    ])
    expect(outcome).toMatchObject({
      found: 5,
      imported: 1,
      skipped_total: 4,
      skipped: [
        { title: 'No id', reason: 'The conversation has no id.' },
        { title: 'Empty', reason: 'The conversation has no messages.' },
        { title: 'Long', reason: 'A message of the conversation is too long.' },
        { title: 'Other', reason: 'The entry is not a conversation.' },
      ],
    })
  })

  test('with thousands of unclosed folds is parsed quickly', async () => {
    const conversation = openWebUiConversation()
    conversation.chat.history.messages.a.content = '<details type="reasoning">'.repeat(50_000)
    expect(await take([conversation])).toMatchObject({ imported: 1 })
  })
})

test('yields during a long import and stops if the conversation is deleted', async () => {
  const chain = (id: string, length: number) => {
    const nodes = Array.from({ length }, (_, index) =>
      chatGptNode(`n${index}`, `n${index - 1}`, index % 2 ? 'assistant' : 'user', `Message ${index}`),
    )
    const mapping = Object.fromEntries(nodes.map((node) => [node.id, node]))
    return { ...chatGptConversation(), id, conversation_id: id, current_node: `n${length - 1}`, mapping }
  }
  const counts: number[] = []
  const importing = take([chain('long', 2_300)])
  let isDone = false
  void importing.finally(() => {
    isDone = true
  })
  while (!isDone) {
    await setImmediate()
    const count = conversations()[0]?.messageCount ?? 0
    if (count !== counts.at(-1)) counts.push(count)
  }
  expect(await importing).toMatchObject({ imported: 1, messages: 2_300 })
  expect(counts.filter((it) => it > 0)).toEqual([500, 1_000, 1_500, 2_000, 2_300])
  expect(said().at(-1)).toEqual(['assistant', 'Message 2299'])
  expect(await take([chain('long', 2_300)])).toMatchObject({ unchanged: 1, messages: 0 })

  const interrupted = take([chain('purged', 2_000)])
  while (conversations().length < 2) await setImmediate()
  const purged = conversations().find(({ source }) => source?.id === 'purged')
  if (!purged) throw new Error('It is being imported.')
  store.conversations.save({ ...purged, deletedAtMs: 1 })
  store.conversations.purge(nowMs)
  expect(await interrupted).toMatchObject({
    imported: 0,
    skipped: [{ title: 'Capitals', reason: 'The conversation was deleted.' }],
  })
})
