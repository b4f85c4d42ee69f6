import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { type HttpClient, httpClient } from './httpClient.ts'

let server: Server | undefined
let client: HttpClient | undefined

afterEach(async () => {
  client?.close()
  client = undefined
  server?.closeAllConnections()
  await new Promise((closed) => (server ? server.close(closed) : closed(undefined)))
})

test('sends a body and reads the answer whole, whatever its status', async () => {
  const url = await serving(async (request, response) => {
    response.statusCode = 422
    response.end(`${request.method} ${request.headers['x-name']} ${await text(request)}`)
  })
  const asked = ask(url, { method: 'POST', headers: { 'x-name': 'ada' }, body: 'größer' })
  await expect(asked).resolves.toEqual({ status: 422, text: 'POST ada größer' })
  await expect(ask(url, { method: 'POST' })).resolves.toEqual({ status: 422, text: 'POST undefined ' })
})

test('keeps its connection for what is asked next', async () => {
  const ports: (number | undefined)[] = []
  const url = await serving((request: IncomingMessage, response) => {
    ports.push(request.socket.remotePort)
    response.end()
  })
  await ask(url)
  await ask(url)
  expect(new Set(ports).size).toBe(1)
})

test('refuses an answer that is longer than allowed', async () => {
  const url = await serving((_, response) => response.end('x'.repeat(101)))
  await expect(ask(url)).rejects.toThrow('The answer is too large.')
})

test('stops when it is called off, also in the middle of an answer', async () => {
  const calledOff = new AbortController()
  const url = await serving((_, response) => {
    response.write('begins')
    calledOff.abort()
  })
  await expect(ask(url, { signal: calledOff.signal })).rejects.toThrow(/aborted/)
})

test('fails when nobody is there, or the answer breaks off', async () => {
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
  client ??= httpClient({ maxAnswerBytes: 100 })
  return client.ask(url, { method: 'GET', headers: {}, signal: new AbortController().signal, ...request })
}
