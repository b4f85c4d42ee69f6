import { once } from 'node:events'
import { copyFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { ReadableStream as WebStream } from 'node:stream/web'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createSseParser } from '#platform/http/sseEvents.ts'
import { type Message, MessageEvent, type SentMessages } from '#shared/contract/chatMessages.ts'
import type { Conversation } from '#shared/contract/chats.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { until } from '../support/assertions/eventually.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createInferenceOptions } from '../support/models/inferenceOptions.ts'
import { createProviderServer, type ProviderServer } from '../support/models/providerServer.ts'
import { sse } from '../support/models/scriptedAnswer.ts'
import { createRunningAgent, type RunningAgent } from '../support/processes/runningAgent.ts'
import { type Answer, runningService, type TestService } from '../support/processes/runningService.ts'

/** Chats as in the window: the real agent and the real service. Only the providers are fakes. */
let providers: ProviderServer
let service: TestService
let agent: RunningAgent
let dataFolder: string

beforeAll(async () => {
  providers = await createProviderServer()
  service = await runningService({ host: 'none', inference: createInferenceOptions(providers) })
})
afterAll(async () => {
  await service?.close()
  await providers?.close()
})
const startAgent = async (): Promise<void> => {
  agent = await createRunningAgent({
    dataFolder,
    target: { url: service.url, key: service.key, certificate: undefined },
  })
}
beforeEach(async () => {
  providers.clear()
  dataFolder = temporaryFolder('chat')
  await startAgent()
})
afterEach(() => agent?.close())

const model = 'kimi-k2.5'
const usage = { input: 1_000, cacheRead: 400, cacheWrite5m: 0, cacheWrite1h: 0, output: 50, reasoning: 20 }
const says = (text: string, thinking?: string) => ({
  parts: [...(thinking === undefined ? [] : [{ thinking }]), { text }],
  usage,
})
/** Completion that starts and does not end until it is stopped. */
const endless = (text: string) => ({
  frames: [
    sse({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta: { role: 'assistant', content: text }, finish_reason: null }],
    }),
  ],
  after: 'silence' as const,
})

const get = async (path: string): Promise<Answer['json']> => {
  const answer = await agent.send(`/local/chat${path}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.json
}
const post = (path: string, body: unknown = {}) => agent.send(`/local/chat${path}`, { body })
const patch = (path: string, body: unknown) => agent.send(`/local/chat${path}`, { method: 'PATCH', body })

const newChat = async (settings: object = {}): Promise<Conversation> => {
  const answer = await post('/conversations', { models: [model], ...settings })
  expect(answer.status, answer.text).toBe(201)
  return answer.json
}
const sendMessage = async (chat: { id: string }, text: string, more: object = {}): Promise<SentMessages> => {
  const answer = await post(`/conversations/${chat.id}/messages`, { parent_id: null, text, ...more })
  expect(answer.status, answer.text).toBe(201)
  return answer.json
}
const message = async (id: string): Promise<Message> => (await get(`/messages/${id}`)).message
const waitForMessage = (id: string): Promise<Message> =>
  until('the answer is finished', async () => {
    const stored = await message(id)
    return stored.finished_at === null ? undefined : stored
  })
const sendAndWait = async (chat: { id: string }, text: string, more: object = {}): Promise<Message> => {
  const { answers } = await sendMessage(chat, text, more)
  return waitForMessage(answers[0]?.id ?? '')
}
const page = async (chat: { id: string }, query = '') => get(`/conversations/${chat.id}/messages${query}`)
const texts = ({ messages }: { messages: Message[] }) => messages.map(({ text }) => text)

/** Reads all events of a stream until it ends. */
async function readStream(id: string): Promise<MessageEvent[]> {
  const answer = await agent.send(`/local/chat/messages/${id}/stream`)
  expect(answer.headers['content-type']).toContain('text/event-stream')
  return answer.text
    .split('\n\n')
    .filter((it) => it.startsWith('data: '))
    .map((line) => MessageEvent.parse(JSON.parse(line.slice('data: '.length))))
}

async function* parseEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<MessageEvent> {
  const parser = createSseParser()
  for await (const piece of body) for (const { data } of parser.feed(piece)) yield MessageEvent.parse(JSON.parse(data))
}

describe('a message', () => {
  test('receives a streamed reply and is charged the cost that the service reports', async () => {
    providers.play(says('Hello Ada.', 'She greets.'))
    const chat = await newChat()
    const { user, answers, warnings } = await sendMessage(chat, '  Good morning!\nAnd more.')
    expect(user).toMatchObject({ role: 'user', position: 1, text: '  Good morning!\nAnd more.', state: 'complete' })
    expect(warnings).toEqual([])
    const [answer] = answers
    expect(answer).toMatchObject({ role: 'assistant', parent_id: user?.id, position: 2, model, group_id: null })

    const events = await readStream(answer?.id ?? '')
    expect(events[0]?.type).toBe('snapshot')
    const end = events.at(-1)
    expect(end).toMatchObject({
      type: 'end',
      message: { state: 'complete', text: 'Hello Ada.', reasoning: 'She greets.', finish_reason: 'stop', error: null },
    })
    const before = events[0]?.type === 'snapshot' ? events[0].message.text : ''
    expect(before + events.map((event) => (event.type === 'delta' ? event.text : '')).join('')).toBe('Hello Ada.')

    const done = await waitForMessage(answer?.id ?? '')
    const [charge] = (await service.send('/v1/credits/history?limit=1')).json.transactions
    expect(done.usage).toMatchObject({
      input_tokens: 1_400,
      cached_tokens: 400,
      output_tokens: 50,
      reasoning_tokens: 20,
      cost_micro_usd: Math.round(-charge.amount_cents * 10_000),
      estimated: false,
    })
    expect(done.usage?.saved_micro_usd).toBeGreaterThan(0)
    expect(await get(`/conversations/${chat.id}`)).toMatchObject({
      title: 'Good morning! And more.',
      leaf_id: answer?.id,
      message_count: 2,
      answering: 0,
      cost_micro_usd: done.usage?.cost_micro_usd,
    })
    const rows = (await get('/spend?by=model')).rows
    expect(rows).toMatchObject([{ key: model, cost_micro_usd: done.usage?.cost_micro_usd, answers: 1 }])
    expect((await get('/spend?by=conversation')).rows).toMatchObject([{ label: 'Good morning! And more.' }])
    expect(agent.events).toContainEqual({ type: 'chat.spend', conversation_id: chat.id })
    const { entries } = (await agent.send('/local/activity?kinds=chat')).json
    expect(entries[0]).toMatchObject({ kind: 'chat.answered', summary: expect.stringMatching(/^kimi-k2.5 answered/) })
    expect(JSON.stringify(entries)).not.toContain('Good morning')
  })

  test('is sent with its preceding branch, the system prompt and the parameters', async () => {
    const chat = await newChat({ system_prompt: 'Be short.', parameters: { temperature: 0.5, max_tokens: 777 } })
    const first = await sendAndWait(chat, 'One')
    await sendAndWait(chat, 'Two', { parent_id: first.id })
    const { body } = providers.requests.at(-1) ?? {}
    expect(body.messages.map(({ role, content }: Answer['json']) => [role, content])).toEqual([
      ['system', 'Be short.'],
      ['user', 'One'],
      ['assistant', 'Hello from a fake.'],
      ['user', 'Two'],
    ])
    expect(body.max_completion_tokens ?? body.max_tokens).toBe(777)
    expect(body.stream).toBe(true)
  })

  test('is sent once when repeated with the same request id', async () => {
    const chat = await newChat()
    const more = { request_id: 'request-1' }
    const [first, two] = await Promise.all([sendMessage(chat, 'Once', more), sendMessage(chat, 'Once', more)])
    expect(two.answers.map(({ id }) => id)).toEqual(first.answers.map(({ id }) => id))
    await waitForMessage(first.answers[0]?.id ?? '')
    expect(providers.requests).toHaveLength(1)
    expect((await page(chat)).total).toBe(2)
  })

  test('can be edited and regenerated while every branch remains', async () => {
    providers.play(says('A1'), says('A2'), says('B1'), says('A1 again'))
    const chat = await newChat()
    const a1 = await sendAndWait(chat, 'Q1')
    const a2 = await sendAndWait(chat, 'Q2', { parent_id: a1.id })
    const b1 = await sendAndWait(chat, 'Q2 edited', { parent_id: a1.id })
    expect(texts(await page(chat))).toEqual(['Q1', 'A1', 'Q2 edited', 'B1'])
    expect(texts(await page(chat, `?leaf_id=${a2.id}`))).toEqual(['Q1', 'A1', 'Q2', 'A2'])
    const [, , edited] = (await page(chat)).messages
    expect(edited.sibling_ids).toHaveLength(2)

    const again = (await post(`/messages/${a1.id}/regenerate`, { model: 'gpt-5-mini' })).json.answers[0]
    expect(await waitForMessage(again.id)).toMatchObject({ model: 'gpt-5-mini', position: 2 })
    expect((await page(chat)).total).toBe(2)
    expect((await patch(`/conversations/${chat.id}`, { leaf_id: a1.id })).json.leaf_id).toBe(b1.id)
    expect((await get(`/messages/${a2.id}`)).leaf_id).toBe(a2.id)
  })

  test('receives replies from several models side by side', async () => {
    const chat = await newChat()
    const four = [model, 'gpt-5-mini', 'claude-haiku-4.5', 'gemini-3-flash']
    const { answers } = await sendMessage(chat, 'Compare', { models: four })
    expect(new Set(answers.map(({ group_id }) => group_id)).size).toBe(1)
    for (const { id } of answers) expect(await waitForMessage(id)).toMatchObject({ state: 'complete', warnings: [] })
    const ofClaude = providers.requests.find(({ provider }) => provider === 'anthropic')
    expect(JSON.stringify(ofClaude?.body)).toContain('"cache_control":{"type":"ephemeral"}')
    const { messages, beside } = await page(chat)
    expect(messages).toHaveLength(2)
    expect(beside.map((it: Message) => it.model)).toEqual(four.slice(1))
    expect((await get(`/conversations/${chat.id}`)).models).toEqual(four)
  })

  test('sends images as data and text files as quotes, without SVG or binary files', async () => {
    const upload = (name: string, bytes: string | Buffer) =>
      fetch(`${agent.origin}/local/chat/attachments?name=${encodeURIComponent(name)}`, {
        method: 'POST',
        headers: { ...agent.session, 'content-type': 'application/octet-stream' },
        body: new Uint8Array(Buffer.from(bytes as never)),
      })
    const png = Buffer.from('89504e470d0a1a0a0000000d', 'hex')
    const image = (await (await upload('a.txt', png)).json()) as Answer['json']
    expect(image).toMatchObject({ kind: 'image', media_type: 'image/png', size: 12 })
    const svg = (await (await upload('x.svg', '<svg onload="alert(1)"/>')).json()) as Answer['json']
    expect(svg).toMatchObject({ kind: 'text', media_type: 'text/plain' })
    expect((await upload('x.bin', Buffer.from([0, 1, 2]))).status).toBe(415)
    expect((await upload('big.txt', 'a'.repeat(1024 ** 2 + 1))).status).toBe(413)
    expect((await upload('empty.txt', '')).status).toBe(415)

    const content = await agent.send(`/local/chat/attachments/${svg.id}/content`)
    expect(content.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'x-content-type-options': 'nosniff',
      'content-disposition': "attachment; filename*=UTF-8''x.svg",
    })
    const chat = await newChat()
    await sendAndWait(chat, 'Look', { attachment_ids: [svg.id, image.id] })
    const [turn] = providers.requests.at(-1)?.body.messages ?? []
    expect(JSON.stringify(turn.content)).toContain(`data:image/png;base64,${png.toString('base64')}`)
    expect(JSON.stringify(turn.content)).toContain('<attachment name=')
    expect((await page(chat)).messages[0].attachments.map(({ id }: { id: string }) => id)).toEqual([svg.id, image.id])
  })
})

describe('a reply', () => {
  test('preserves its partial text and costs an estimate when stopped', async () => {
    providers.play(endless('Half a'))
    const chat = await newChat()
    const { answers } = await sendMessage(chat, 'Go')
    const id = answers[0]?.id ?? ''
    await until('it streams', async () => (await message(id)).text === 'Half a')
    expect((await get('/conversations')).conversations[0].answering).toBe(1)
    await post(`/messages/${id}/stop`)
    const stopped = await waitForMessage(id)
    expect(stopped).toMatchObject({ state: 'stopped', text: 'Half a', usage: { estimated: true } })
    expect(stopped.usage?.cost_micro_usd).toBeGreaterThan(0)
    await until('the provider is left', () => providers.leftConnections() === 1)
    expect((await get('/budget')).today).toMatchObject({ reserved_micro_usd: 0 })
  })

  test('streams to clients that connect, disconnect and reconnect', async () => {
    providers.play(endless('Half a'))
    const id = (await sendMessage(await newChat(), 'Go')).answers[0]?.id ?? ''
    const url = `${agent.origin}/local/chat/messages/${id}/stream`
    const open = async () => {
      const controller = new AbortController()
      const answer = await fetch(url, { headers: { ...agent.session }, signal: controller.signal })
      const events = parseEvents(Readable.fromWeb(answer.body as WebStream))
      return { events, leave: () => controller.abort() }
    }
    const first = await open()
    let text = ''
    while (text !== 'Half a') {
      const { value } = await first.events.next()
      if (value?.type === 'snapshot') text = value.message.text
      if (value?.type === 'delta') {
        text += value.text
        expect(value.usage).toMatchObject({ estimated: true })
      }
    }
    first.leave()
    expect(await message(id)).toMatchObject({ state: 'streaming' })

    const again = await open()
    expect((await again.events.next()).value).toMatchObject({ type: 'snapshot', message: { text: 'Half a' } })
    await post(`/messages/${id}/stop`)
    expect((await again.events.next()).value).toMatchObject({ type: 'end', message: { state: 'stopped' } })
    expect((await again.events.next()).done).toBe(true)
    expect((await agent.send(`/local/chat/messages/msg_${'0'.repeat(24)}/stream`)).status).toBe(404)
  })

  test('streams completely to many clients and does not wait for a stalled client', async () => {
    const chunks = Array.from({ length: 2_000 }, (_, index) => `word ${index} `)
    const flood = 'a long word '.repeat(600_000)
    const whole = chunks.join('') + flood
    const everybody = Promise.withResolvers<void>()
    const body = (delta: object, finish: string | null = null) => ({
      ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
      choices: [{ index: 0, delta, finish_reason: finish }],
    })
    providers.play({
      frames: [
        ...chunks.map((chunk) => sse(body({ content: chunk }))),
        // These wait until all clients are connected.
        sse(body({ content: flood })),
        sse(body({}, 'stop')),
        'data: [DONE]\n\n',
      ],
      until: everybody.promise,
    })
    const chat = await newChat({ parameters: { max_tokens: 200_000 } }) // the flood does not exceed it
    const id = (await sendMessage(chat, 'Go')).answers[0]?.id ?? ''
    const { host, hostname, port } = new URL(agent.origin)
    const path = `/local/chat/messages/${id}/stream`
    const headers = { ...agent.session }
    const leaving = new AbortController()
    const begun: Promise<unknown>[] = []
    const read = async (): Promise<{ text: string; end: string; pieces: number }> => {
      const answer = fetch(agent.origin + path, { headers })
      begun.push(answer)
      let [text, end, pieces] = ['', '', 0]
      for await (const event of parseEvents(Readable.fromWeb((await answer).body as WebStream))) {
        pieces += 1
        if (event.type === 'snapshot') text = event.message.text
        if (event.type === 'delta') text += event.text
        if (event.type === 'end') end = event.message.text
      }
      return { text, end, pieces }
    }
    const readers = Array.from({ length: 8 }, read)
    const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
    const lazy = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const socket = connect(Number(port), hostname)
        onTestFinished(() => void socket.destroy())
        await once(socket, 'connect')
        socket.pause().write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
        await until('its answer begins', () => socket.readableLength > 0)
        return socket
      }),
    )
    await Promise.all([
      ...begun,
      ...Array.from({ length: 6 }, () => fetch(agent.origin + path, { headers, signal: leaving.signal })),
    ])
    leaving.abort()

    const readBufferBytes = () => process.memoryUsage().arrayBuffers
    const before = readBufferBytes()
    everybody.resolve()
    for (const { text, end, pieces } of await Promise.all(readers)) {
      expect(text === whole).toBe(true)
      expect(end === whole).toBe(true)
      expect(pieces).toBeLessThan(chunks.length / 4)
    }
    expect(await waitForMessage(id)).toMatchObject({ state: 'complete' })
    expect(lazy.every((socket) => !socket.readableEnded)).toBe(true)
    // A buffer per client would take 30 times the size of the text.
    expect(readBufferBytes() - before).toBeLessThan((30 * whole.length) / 4)
  })

  test('is marked as interrupted if Steward ends while it streams', async () => {
    providers.play(endless('So far'))
    const chat = await newChat()
    const id = (await sendMessage(chat, 'Go')).answers[0]?.id ?? ''
    await until('it streams', async () => (await message(id)).text === 'So far')
    await agent.close()
    await startAgent()
    expect(await message(id)).toMatchObject({ state: 'interrupted', text: 'So far', usage: { estimated: true } })
  })

  test('survives a crash and has its reservation settled', async () => {
    providers.play(endless('So far'))
    const chat = await newChat()
    const id = (await sendMessage(chat, 'Go')).answers[0]?.id ?? ''
    const file = join(dataFolder, 'agent.sqlite')
    const database = openDatabase(file)
    const received = database.prepare('SELECT text FROM chat_received')
    await until('a piece is stored', () => received.get())
    database.close()
    const before = (await get('/budget')).today
    expect(before.reserved_micro_usd).toBeGreaterThan(0)

    // Copy of the files in the state that a kill would leave.
    const crashed = temporaryFolder('crashed')
    for (const name of ['agent.sqlite', 'agent.sqlite-wal']) copyFileSync(join(dataFolder, name), join(crashed, name))
    await agent.close()
    dataFolder = crashed
    await startAgent()
    const stored = await message(id)
    expect(stored).toMatchObject({ state: 'interrupted', text: 'So far', usage: { estimated: true } })
    expect((await get('/budget')).today).toMatchObject({
      spent_micro_usd: stored.usage?.cost_micro_usd,
      reserved_micro_usd: 0,
    })
    expect((await get('/search?q=far')).hits).toMatchObject([{ message_id: id }])
  })

  test.each([
    [
      { status: 429, headers: { 'retry-after': '7' } },
      { code: 'inference/rate', fix: 'retry', hint: 'Try again in 7 s.' },
    ],
    [{ status: 500 }, { fix: 'retry' }],
    [{ frames: [], after: 'cut' as const }, { fix: 'retry' }],
  ])('reports the reason and a fix for an error: %j', async (turn, error) => {
    providers.play(turn, turn)
    const failed = await sendAndWait(await newChat(), 'Go')
    expect(failed).toMatchObject({ state: 'failed', error })
    expect((await get('/budget')).today.reserved_micro_usd).toBe(0)
  })

  test('preserves the received text when the stream breaks off', async () => {
    providers.play({ ...endless('Half'), after: 'cut' })
    const failed = await sendAndWait(await newChat(), 'Go')
    expect(failed).toMatchObject({ state: 'failed', text: 'Half', error: { fix: 'retry' }, usage: { estimated: true } })
  })
})

describe('limits', () => {
  test('cuts off a reply above its token limit even as a single chunk', async () => {
    providers.play({ ...endless('x'.repeat(9_000_000)), after: 'cut' })
    const answer = await sendAndWait(await newChat(), 'Write without end')
    expect(answer).toMatchObject({ state: 'failed', text: '' })
    expect(answer.error?.message).toBe('The provider exceeded `max_tokens` and was cut off.')
  })

  test('twenty concurrent messages do not exceed a small limit', async () => {
    const hard = 30_000
    await patch('/budget', { day: { soft_micro_usd: 10_000, hard_micro_usd: hard } })
    const chats = await Promise.all(Array.from({ length: 20 }, () => newChat()))
    const outcomes = await Promise.all(
      chats.map((chat) => post(`/conversations/${chat.id}/messages`, { parent_id: null, text: 'Tell me a story.' })),
    )
    const refused = outcomes.filter(({ status }) => status === 402)
    expect(refused.length).toBeGreaterThan(0)
    for (const { json } of refused) expect(json).toMatchObject({ code: 'budget/exceeded', limit: { scope: 'day' } })
    const accepted = outcomes.filter(({ status }) => status === 201)
    expect(accepted.length).toBeGreaterThan(0)
    for (const { json } of accepted) await waitForMessage(json.answers[0].id)
    const { today } = await get('/budget')
    expect(today.spent_micro_usd).toBeLessThanOrEqual(hard)
    expect(today.reserved_micro_usd).toBe(0)
    const requestedTokens = providers.requests.reduce(
      (sum, { body }) => sum + (body.max_completion_tokens ?? body.max_tokens),
      0,
    )
    expect(requestedTokens * 3).toBeLessThanOrEqual(hard) // maximum cost of the output alone, at $3 per million tokens
  })

  test('a conversation limit refuses a message without storing it and appears in the estimate', async () => {
    const chat = await newChat({ limits: { soft_micro_usd: null, hard_micro_usd: 5 } })
    const body = { conversation_id: chat.id, parent_id: null, text: 'Hello' }
    expect((await post('/estimate', body)).json).toMatchObject({ refusal: { code: 'budget/exceeded' } })
    const refused = await post(`/conversations/${chat.id}/messages`, { parent_id: null, text: 'Hello' })
    expect(refused).toMatchObject({ status: 402, json: { code: 'budget/exceeded', limit: { scope: 'conversation' } } })
    expect(await get(`/conversations/${chat.id}`)).toMatchObject({ message_count: 0, title: 'New chat' })
    await patch(`/conversations/${chat.id}`, { limits: { soft_micro_usd: null, hard_micro_usd: 2_000 } })
    const clamped = await sendAndWait(chat, 'Hello')
    expect(clamped.clamped_max_tokens).toBeLessThan(700)
    const { estimates } = (await post('/estimate', { ...body, text: 'And more', parent_id: clamped.id })).json
    expect(estimates[0]).toMatchObject({ model, available: true, clamped: true })
    expect(estimates[0].min_micro_usd).toBeLessThanOrEqual(estimates[0].max_micro_usd)
  })

  test('a reservation counts after a crash until the next start settles it', async () => {
    const chat = await newChat()
    await agent.close()
    const database = openDatabase(join(dataFolder, 'agent.sqlite'))
    migrate(database, agentMigrations)
    database
      .prepare('INSERT INTO spend_reservations VALUES (?, ?, ?, ?, ?)')
      .run('msg_lost', chat.id, model, new Date().toISOString().slice(0, 10), 1_234)
    database.close()
    await startAgent()
    expect((await get('/budget')).today).toMatchObject({ spent_micro_usd: 1_234, reserved_micro_usd: 0 })
  })
})

describe('conversations', () => {
  test('can be listed, searched, pinned, filed, forked, deleted and restored', async () => {
    providers.play(says('The mitochondrion is the powerhouse of the cell.'))
    const chat = await newChat()
    const answer = await sendAndWait(chat, 'Biology question')
    await newChat({ title: 'Other' })
    const folder = (await post('/folders', { name: 'School' })).json
    await patch(`/conversations/${chat.id}`, { pinned: true, folder_id: folder.id })
    const listed = await get('/conversations?limit=1')
    expect(listed).toMatchObject({ total: 2, conversations: [{ id: chat.id, pinned: true, folder_id: folder.id }] })
    expect((await get(`/conversations?cursor=${listed.next_cursor}`)).conversations).toMatchObject([{ title: 'Other' }])
    expect((await get('/folders')).folders).toMatchObject([{ name: 'School', conversations: 1 }])

    const { hits } = await get(`/search?q=${encodeURIComponent('powerhouse mitoch')}`)
    expect(hits).toMatchObject([{ conversation_id: chat.id, message_id: answer.id, role: 'assistant' }])
    expect(hits[0].snippet).toContainEqual({ text: 'powerhouse', hit: true })
    for (const q of ['"', 'NOT', '* OR', 'a:b', '(', '"un closed', '^x', '-']) {
      expect((await agent.send(`/local/chat/search?q=${encodeURIComponent(q)}`)).status).toBe(200)
    }

    const fork = (await post(`/conversations/${chat.id}/fork`, { message_id: answer.id })).json
    expect(fork).toMatchObject({ title: 'Biology question (fork)', message_count: 2, cost_micro_usd: 0 })
    expect(texts(await page(fork))).toEqual(texts(await page(chat)))

    expect((await agent.send(`/local/chat/conversations/${chat.id}`, { method: 'DELETE' })).status).toBe(200)
    expect((await agent.send(`/local/chat/conversations/${chat.id}`)).status).toBe(404)
    expect((await agent.send(`/local/chat/messages/${answer.id}`)).status).toBe(404)
    expect((await get('/search?q=powerhouse')).hits).toMatchObject([{ conversation_id: fork.id }])
    expect((await post(`/conversations/${chat.id}/restore`)).json.message_count).toBe(2)
    expect(texts(await page(chat))).toHaveLength(2)
  })

  test('can be exported completely, with one branch as Markdown', async () => {
    providers.play(says('**Yes.**', 'Sure.'))
    const chat = await newChat({ title: 'A/B: "quoted"', system_prompt: 'Be short.' })
    await sendAndWait(chat, 'Is it?')
    const json = await agent.send(`/local/chat/conversations/${chat.id}/export`)
    expect(json.headers['content-disposition']).toBe("attachment; filename*=UTF-8''A%20B%20%20%20quoted.json")
    expect(json.json).toMatchObject({ version: 1, conversation: { id: chat.id }, messages: [{}, { text: '**Yes.**' }] })
    const markdown = await agent.send(`/local/chat/conversations/${chat.id}/export?format=markdown`)
    expect(markdown.text).toBe(
      `# A/B: "quoted"\n\n> Be short.\n\n## You\n\nIs it?\n\n## ${model}\n\n<details><summary>Reasoning</summary>\n\nSure.\n\n</details>\n\n**Yes.**\n\n`,
    )
  })

  test('sends and stores nothing without a service', async () => {
    const alone = await createRunningAgent({ dataFolder: temporaryFolder('alone') })
    const chat = (await alone.send('/local/chat/conversations', { body: { models: [model] } })).json
    const refused = await alone.send(`/local/chat/conversations/${chat.id}/messages`, {
      body: { parent_id: null, text: 'Hello' },
    })
    expect(refused).toMatchObject({ status: 503, json: { code: 'service/unavailable' } })
    expect((await alone.send(`/local/chat/conversations/${chat.id}`)).json.message_count).toBe(0)
    await alone.close()
  })

  test('cannot be read with the API key of a program', async () => {
    const answer = await agent.send('/local/chat/conversations', {
      headers: { authorization: `Bearer ${service.key}` },
    })
    expect(answer).toMatchObject({ status: 403, json: { code: 'auth/forbidden' } })
  })
})
