import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { eventually } from '#test/support/assertions/eventually.ts'
import { createHttpClient, type HttpClient } from './httpClient.ts'

let server: Server | undefined
let client: HttpClient | undefined

afterEach(async () => {
  client?.close()
  client = undefined
  server?.closeAllConnections()
  await new Promise((closed) => (server ? server.close(closed) : closed(undefined)))
})

test('sends a body and reads the whole response regardless of its status', async () => {
  const url = await serving(async (request, response) => {
    response.statusCode = 422
    response.end(`${request.method} ${request.headers['x-name']} ${await text(request)}`)
  })
  const requested = ask(url, { method: 'POST', headers: { 'x-name': 'ada' }, body: 'größer' })
  await expect(requested).resolves.toEqual({ status: 422, text: 'POST ada größer' })
  await expect(ask(url, { method: 'POST' })).resolves.toEqual({ status: 422, text: 'POST undefined ' })
})

test('reuses its connection for the next request', async () => {
  const ports: (number | undefined)[] = []
  const url = await serving((request: IncomingMessage, response) => {
    ports.push(request.socket.remotePort)
    response.end()
  })
  await ask(url)
  await ask(url)
  expect(new Set(ports).size).toBe(1)
})

test('rejects a response over the size limit', async () => {
  const url = await serving((_, response) => response.end('x'.repeat(101)))
  await expect(ask(url)).rejects.toThrow('The response is too large.')
})

test('stops on abort, even in the middle of a response', async () => {
  const calledOff = new AbortController()
  const url = await serving((_, response) => {
    response.write('begins')
    calledOff.abort()
  })
  await expect(ask(url, { signal: calledOff.signal })).rejects.toThrow(/aborted/)
})

test('a signal aborts only its own request on a reused connection', async () => {
  const release = Promise.withResolvers<void>()
  const ports: (number | undefined)[] = []
  const url = await serving(async (request, response) => {
    ports.push(request.socket.remotePort)
    response.write('begins')
    if (request.headers['x-name'] === 'second') await release.promise
    response.end('.')
  })
  const first = new AbortController()
  await ask(url, { signal: first.signal })
  const second = ask(url, { headers: { 'x-name': 'second' } })
  await eventually(() => expect(ports).toHaveLength(2))
  first.abort()
  release.resolve()
  await expect(second).resolves.toEqual({ status: 200, text: 'begins.' })
  expect(new Set(ports).size).toBe(1)
})

test('an abort between the last byte and the end is harmless', async () => {
  const url = await serving((_, response) => response.end('whole'))
  for (let count = 0; count < 5; count += 1) {
    const controller = new AbortController()
    client ??= createHttpClient({ maxAnswerBytes: 100 })
    const { body } = await client.open(url, { method: 'GET', headers: {}, signal: controller.signal })
    const pieces = body[Symbol.asyncIterator]()
    expect(String((await pieces.next()).value)).toBe('whole')
    controller.abort()
    await pieces.next().catch(() => {})
  }
  await expect(ask(url)).resolves.toEqual({ status: 200, text: 'whole' })
})

test('fails when the server is unreachable or the response is cut off', async () => {
  const url = await serving((_, response) => {
    response.writeHead(200, { 'content-length': 10 })
    response.write('half')
    response.socket?.end()
  })
  await expect(ask(url)).rejects.toThrow(/aborted/)
  await new Promise((closed) => server?.close(closed))
  await expect(ask(url)).rejects.toThrow(/ECONNREFUSED/)
})

async function serving(listener: RequestListener): Promise<string> {
  const started = createServer(listener)
  server = started
  await new Promise((listening) => started.listen(0, '127.0.0.1', () => listening(undefined)))
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}/`
}

function ask(url: string, request: Partial<Parameters<HttpClient['ask']>[1]> = {}) {
  client ??= createHttpClient({ maxAnswerBytes: 100 })
  return client.ask(url, { method: 'GET', headers: {}, signal: new AbortController().signal, ...request })
}
