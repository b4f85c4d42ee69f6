import { request as httpRequest, type IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { AppError } from '#shared/appError.ts'
import { defineRoute } from '#shared/contract/route.ts'
import { until } from '#test/support/assertions/eventually.ts'
import { pipelineServer, type TestCall, testEndpoint } from '#test/support/fakes/pipelineServer.ts'
import { createEventStreamResponse, type StreamEvent } from './answers.ts'

const stream = defineRoute({
  operation: 'stream',
  method: 'GET',
  path: '/stream',
  summary: 'Stream',
  tag: 'Test',
  response: z.object({}),
})

type Handle = (call: TestCall) => AsyncIterable<StreamEvent>

function streaming(handle: Handle, heartbeatMs?: number) {
  const endpoint = testEndpoint(stream, (_, call) => createEventStreamResponse(handle(call)), { streams: () => true })
  return pipelineServer({ endpoints: [endpoint], ...(heartbeatMs !== undefined && { heartbeatMs }) })
}

/** Creates a client that reads nothing until released. */
async function slowReader(port: number): Promise<IncomingMessage> {
  const request = httpRequest({ port, path: '/stream', headers: { 'x-api-key': 'ada' } })
  request.on('error', () => {}) // the connection ends early
  const answer = await new Promise<IncomingMessage>((resolve) => request.once('response', resolve).end())
  answer.on('error', () => {})
  return answer
}

test('sends events as they arrive and ends the response after the last', async () => {
  const { ask } = await streaming(async function* () {
    yield { data: { a: 1 } }
    yield { event: 'named', id: '7', data: 'two\nlines\r\nand a third' }
    yield { data: '[DONE]' }
  })
  const answer = await ask('/stream')
  const headers = ['content-type', 'cache-control', 'x-content-type-options'].map((name) => answer.headers.get(name))
  expect(headers).toEqual(['text/event-stream; charset=utf-8', 'no-store', 'nosniff'])
  expect(await answer.text()).toBe(
    'data: {"a":1}\n\nevent: named\nid: 7\ndata: two\ndata: lines\ndata: and a third\n\ndata: [DONE]\n\n',
  )
})

test('an error is a plain response before the first event, later an event', async () => {
  const failing: (events: number) => Handle = (events) =>
    async function* () {
      for (let index = 0; index < events; index++) yield { data: index }
      throw new AppError('host/unavailable', 'The host is away.')
    }
  const early = await (await streaming(failing(0))).ask('/stream')
  expect([early.status, early.headers.get('content-type'), (await early.json()).code]).toEqual([
    503,
    'application/json; charset=utf-8',
    'host/unavailable',
  ])
  const late = await (await streaming(failing(1))).ask('/stream')
  expect(late.status).toBe(200)
  const text = await late.text()
  expect(text).toMatch(/^data: 0\n\nevent: error\ndata: \{.*"code":"host\/unavailable".*\}\n\n$/)
})

test('a dialect formats an error in its own form', async () => {
  async function* cut() {
    yield { data: 'begun' }
    throw new AppError('host/unavailable', 'The host is away.')
  }
  const endpoint = testEndpoint(
    stream,
    () => createEventStreamResponse(cut(), { toEvent: ({ message }) => ({ data: { error: { message } } }) }),
    { streams: () => true },
  )
  const { ask } = await pipelineServer({ endpoints: [endpoint] })
  expect(await (await ask('/stream')).text()).toBe('data: begun\n\ndata: {"error":{"message":"The host is away."}}\n\n')
})

test('a name with a line break cannot forge an event', async () => {
  const { ask } = await streaming(async function* () {
    yield { data: 1 }
    yield { event: 'x\n\ndata: forged', data: 1 }
  })
  const text = await (await ask('/stream')).text()
  expect(text).not.toContain('forged')
  expect(text).toContain('internal/unexpected')
})

test('does not buffer ahead of a slow client', async () => {
  let pulls = 0
  const { port } = await streaming(async function* () {
    for (; pulls < 100_000; pulls++) yield { data: 'x'.repeat(10_000) }
  })
  const answer = await slowReader(port)
  const before = await until('the stream to stand still', async () => {
    const now = pulls
    await new Promise((resolve) => setImmediate(resolve))
    return pulls === now && now > 0 ? now : undefined
  })
  expect(before).toBeLessThan(2_000) // out of 1 GB, only the amount that the buffers of both ends hold
  let bytes = 0
  answer.on('data', (piece: Buffer) => {
    bytes += piece.length
  })
  await until('it to go on', () => pulls > before && bytes > before * 10_000)
  answer.destroy()
})

test('a client disconnect ends the handler, even while it waits for an event', async () => {
  let ended = 0
  const { port } = await streaming(async function* ({ signal }) {
    try {
      yield { data: 'begun' }
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('gone'))))
    } finally {
      ended += 1
    }
  })
  const answer = await slowReader(port)
  answer.destroy()
  await until('the handler to end', () => ended === 1)
})

test('a client disconnect with unread events ends the handler', async () => {
  let ended = false
  const { port } = await streaming(async function* () {
    try {
      for (;;) yield { data: 'x'.repeat(100_000) }
    } finally {
      ended = true
    }
  })
  const answer = await slowReader(port)
  answer.destroy()
  await until('the handler to end', () => ended)
})

test('fills silence with comments, even before the first event', async () => {
  let goOn: (() => void) | undefined
  const { ask } = await streaming(async function* () {
    await new Promise<void>((resolve) => {
      goOn = resolve
    })
    yield { data: 'late' }
    throw new AppError('host/unavailable', 'The host is away.')
  }, 20)
  const answer = await ask('/stream') // the head arrives with the first comment
  const reader = answer.body?.getReader()
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toMatch(/^(:\n\n)+$/)
  goOn?.()
  let rest = ''
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
    rest += Buffer.from(piece.value).toString()
  }
  expect(rest).toMatch(/^(:\n\n)*data: late\n\n(:\n\n)*event: error\ndata: .*\n\n$/)
})

test('a closing server sends a reason and ends the stream', async () => {
  const { ask, closing } = await streaming(async function* () {
    yield { data: 'begun' }
    await new Promise(() => {}) // a handler that ignores abort
  })
  const answer = await ask('/stream')
  closing.abort()
  expect(await answer.text()).toMatch(/^data: begun\n\nevent: error\ndata: .*"code":"service\/unavailable".*\n\n$/)
})
