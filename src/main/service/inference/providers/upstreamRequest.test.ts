import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Dispatcher } from 'undici'
import { afterEach, expect, test, vi } from 'vitest'
import { Scope } from '#platform/program/scope.ts'
import { createUpstreamPools } from './upstreamPools.ts'
import { sendUpstreamRequest } from './upstreamRequest.ts'

let scope = new Scope()
afterEach(async () => {
  await scope.close()
  scope = new Scope()
})

async function provider(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  scope.own(server, async (item) => {
    item.closeAllConnections()
    await new Promise((resolve) => item.close(resolve))
  })
  const { port } = server.address() as AddressInfo // the server listens on TCP
  const pools = scope.own(createUpstreamPools(), (it) => it.close())
  const ask = (signal = new AbortController().signal) =>
    pools.send({ url: `http://127.0.0.1:${port}/v1`, headers: { 'x-asked': 'yes' }, body: '{}', signal })
  return { ask }
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

test('returns the status, the headers and the whole body', async () => {
  const { ask } = await provider((request, response) => {
    response.writeHead(201, { 'x-told': String(request.headers['x-asked']) }).end('a'.repeat(300_000))
  })
  const reply = await ask()
  expect([reply.status, reply.headers['x-told']]).toEqual([201, 'yes'])
  expect(await readText(reply.body)).toBe('a'.repeat(300_000))
})

test('skips informational responses', async () => {
  const { ask } = await provider((_, response) => {
    response.writeEarlyHints({ link: '</a>; rel=preload' }, () => response.end('whole'))
  })
  const reply = await ask()
  expect([reply.status, await readText(reply.body)]).toEqual([200, 'whole'])
})

test('pauses reading from the provider while unread data accumulates and then resumes', async () => {
  const flow = { pause: vi.fn(), resume: vi.fn(), abort: vi.fn() }
  let handler: Dispatcher.DispatchHandler | undefined
  const dispatch = (_: object, dispatchHandler: Dispatcher.DispatchHandler): boolean => {
    handler = dispatchHandler
    return true
  }
  const controller = Object.assign(flow, { aborted: false, paused: false, reason: null })
  const response = sendUpstreamRequest(
    { dispatch },
    { path: '/', headers: {}, body: '', signal: new AbortController().signal },
  )
  handler?.onRequestStart?.(controller, undefined)
  handler?.onResponseStart?.(controller, 200, {})
  const pieces = (await response).body[Symbol.asyncIterator]()
  handler?.onResponseData?.(controller, Buffer.alloc(40_000))
  expect(flow.pause).not.toHaveBeenCalled()
  handler?.onResponseData?.(controller, Buffer.alloc(40_000))
  expect(flow.pause).toHaveBeenCalled()
  expect(flow.resume).not.toHaveBeenCalled()
  await pieces.next()
  expect(flow.resume).toHaveBeenCalled()
})

test('closes the connection when the caller stops reading the body', async () => {
  let closed: Promise<unknown> | undefined
  const { ask } = await provider((_, response) => {
    closed = once(response, 'close')
    response.write('first')
  })
  const reply = await ask()
  for await (const piece of reply.body) {
    expect(Buffer.from(piece).toString()).toBe('first')
    break
  }
  await closed
})

test('yields the received data before the error when the provider disconnects', async () => {
  const { ask } = await provider((_, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('first', () => response.destroy())
  })
  const pieces = (await ask()).body[Symbol.asyncIterator]()
  expect(Buffer.from((await pieces.next()).value).toString()).toBe('first')
  await expect(pieces.next()).rejects.toThrow()
  await expect(pieces.next()).rejects.toThrow()
})

test('rejects with the abort reason before, between and after the headers', async () => {
  const reason = new Error('enough')
  const { ask } = await provider((_, response) => void response.write('first'))
  await expect(ask(AbortSignal.abort(reason))).rejects.toBe(reason)

  const early = new AbortController()
  const requested = ask(early.signal)
  early.abort(reason)
  await expect(requested).rejects.toBe(reason)

  const late = new AbortController()
  const pieces = (await ask(late.signal)).body[Symbol.asyncIterator]()
  await pieces.next()
  const waiting = pieces.next()
  late.abort(reason)
  await expect(waiting).rejects.toBe(reason)
})
