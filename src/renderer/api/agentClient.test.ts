import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createSandbox, deleteSandbox, getSandbox } from '#shared/contract/sandboxes.ts'
import type { SandboxId } from '#shared/ids.ts'
import { type ApiClient, createHttpApiClient } from './agentClient.ts'

const id = 'a'.repeat(32) as SandboxId
let server: Server | undefined

afterEach(async () => {
  server?.closeAllConnections()
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)))
  server = undefined
})

async function agentFor(listener: RequestListener): Promise<ApiClient> {
  const opened = createServer(listener)
  server = opened
  await new Promise<void>((resolve) => opened.listen(0, '127.0.0.1', resolve))
  const { port } = opened.address() as AddressInfo
  return createHttpApiClient((path, init) => fetch(`http://127.0.0.1:${port}${path}`, init))
}

const answering = (status: number, body: string, headers: Record<string, string> = {}) =>
  agentFor((_, response) => response.writeHead(status, headers).end(body))

test('sends the request of the route and returns its declared response fields', async () => {
  const seen: unknown[] = []
  const agent = await agentFor(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    seen.push(request.method, request.url, request.headers['content-type'], Buffer.concat(chunks).toString())
    response.end(JSON.stringify({ success: true, id, message: 'gone', later: 'unknown fields are dropped' }))
  })
  expect(await agent(deleteSandbox, { id })).toEqual({ success: true, id, message: 'gone' })
  await expect(agent(createSandbox, { name: 'one' })).rejects.toMatchObject({ code: 'internal/unexpected' })
  expect(seen).toEqual([
    'DELETE',
    `/v1/sandboxes/${id}`,
    undefined,
    '',
    'POST',
    '/v1/sandboxes',
    'application/json',
    '{"name":"one"}',
  ])
})

test('rebuilds the AppError of a refusal with its detail and retry delay', async () => {
  const body = {
    error: 'No capacity for 8 GB.',
    code: 'sandbox/capacity',
    detail: '2 GB are free',
    hint: 'Ask for less.',
  }
  const agent = await answering(503, JSON.stringify(body), { 'retry-after': '7' })
  await expect(agent(createSandbox, {})).rejects.toMatchObject({
    name: 'AppError',
    code: 'sandbox/capacity',
    message: 'No capacity for 8 GB.',
    detail: '2 GB are free',
    retryAfterSeconds: 7,
  })
})

test.each([
  [401, 'auth/required'],
  [404, 'request/not-found'],
  [502, 'service/unavailable'],
  [500, 'internal/unexpected'],
])('maps a %i without a Steward body to %s', async (status, code) => {
  const agent = await answering(status, '<h1>a proxy</h1>')
  await expect(agent(getSandbox, { id })).rejects.toMatchObject({ code })
})

test('reports an unavailable service when the connection breaks before a response', async () => {
  const hungUp = await agentFor((request) => request.socket.destroy())
  await expect(hungUp(getSandbox, { id })).rejects.toMatchObject({ code: 'service/unavailable' })
})

test('reports an unavailable service for a truncated response', async () => {
  const agent = await agentFor((_, response) => {
    response.writeHead(200, { 'content-length': '1000' }).write('{"id"')
    response.socket?.end()
  })
  await expect(agent(getSandbox, { id })).rejects.toMatchObject({ code: 'service/unavailable' })
})

test('rejects with an AbortError when the call is aborted', async () => {
  const agent = await agentFor(() => {})
  const giveUp = new AbortController()
  const call = agent(getSandbox, { id }, { signal: giveUp.signal })
  giveUp.abort()
  await expect(call).rejects.toMatchObject({ name: 'AbortError' })
})
