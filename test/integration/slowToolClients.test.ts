import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { eventually } from '../support/assertions/eventually.ts'
import { createMcpClient, type McpClient, toolClient } from '../support/clients/mcpClients.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createRunningAgent, type RunningAgent } from '../support/processes/runningAgent.ts'
import { exchange, runningService, type TestService } from '../support/processes/runningService.ts'

/**
 * Clients of `/mcp` that are slow, never finish, do not read, or disconnect. Other clients are still served, and no
 * resources leak.
 */
let service: TestService
let agent: RunningAgent
let key: string
let tools: McpClient
let before: Record<string, number>

beforeAll(async () => {
  service = await runningService()
  agent = await createRunningAgent({
    dataFolder: temporaryFolder('agent'),
    target: { url: service.url, key: service.key, certificate: undefined },
  })
  await eventually(() => expect(agent.connection().state).toBe('connected'))
  key = (await toolClient(agent)).key
  tools = await createMcpClient({ url: `${agent.origin}/mcp`, key: (await toolClient(agent)).key })
  await goesOn() // modules and connections that the first call loads remain
  before = open()
})
afterAll(async () => {
  await tools?.client.close()
  await agent?.close()
  await service?.close()
})

/** Returns the timers and sockets of this process, which contains the whole agent. */
function open(): Record<string, number> {
  const counts: Record<string, number> = { Timeout: 0, TCPSocketWrap: 0 }
  for (const kind of process.getActiveResourcesInfo()) if (kind in counts) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

/** Keep-alive connections may close at any time, so the counts may only not exceed those from before. */
async function nothingStays(): Promise<void> {
  await eventually(() => {
    const now = open()
    for (const [kind, count] of Object.entries(before))
      expect([kind, now[kind]], kind).toEqual([kind, expect.toSatisfy((it: number) => it <= count + 4)])
  })
}

async function goesOn(clientKey = key): Promise<void> {
  const { client, call } = await createMcpClient({ url: `${agent.origin}/mcp`, key: clientKey })
  expect((await call('sandbox_list')).result.count).toBeGreaterThanOrEqual(0)
  await client.close()
}

const ask = (id: number, method = 'tools/list', params: object = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })

function head(length: number | 'chunked', clientKey = key): string {
  const { host } = new URL(agent.origin)
  const framing = length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
  const accept = 'Accept: application/json, text/event-stream'
  return `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${clientKey}\r\n${accept}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`
}

async function dial(): Promise<Socket> {
  const { hostname, port } = new URL(agent.origin)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {}) // the connection is cut off
  await once(socket, 'connect')
  return socket
}

test('answers a request that arrives byte by byte normally', async () => {
  const socket = await dial()
  socket.setNoDelay(true)
  let said = ''
  socket.on('data', (piece: Buffer) => {
    said += piece.toString()
  })
  const body = ask(7)
  for (const byte of head(body.length) + body) {
    socket.write(byte)
    await wait(0)
  }
  await eventually(() => expect(said).toContain('"sandbox_create"'))
  expect(said).toMatch(/^HTTP\/1\.1 200 /)
  socket.destroy()
  await nothingStays()
})

test('unfinished bodies block no client, are limited in number and end with their connection', async () => {
  const endless = await Promise.all(Array.from({ length: 120 }, dial))
  const answers: string[] = []
  for (const socket of endless) {
    socket.on('data', (piece: Buffer) => answers.push(piece.toString().slice(9, 12)))
    socket.write(`${head('chunked')}5\r\n{"a":\r\n`)
  }
  await eventually(() => expect(answers).toEqual(Array.from({ length: 20 }, () => '429')))
  // Another client is still served.
  const otherKey = (await toolClient(agent)).key
  const headers = { authorization: `Bearer ${otherKey}`, accept: 'application/json, text/event-stream' }
  expect((await exchange(agent.origin, '/mcp', { key: null, headers, body: JSON.parse(ask(1)) })).status).toBe(200)
  for (const socket of endless) socket.destroy()
  await nothingStays()
  await eventually(() => goesOn())
})

test('rejects an oversized body before all of it arrives', async () => {
  const socket = await dial()
  let said = ''
  socket.on('data', (piece: Buffer) => {
    said += piece.toString()
  })
  socket.write(head(1024 * 1024 * 1024))
  await eventually(() => expect(said).toMatch(/^HTTP\/1\.1 413 /))
  socket.destroy()
  await nothingStays()
})

test('clients that send requests without reading use bounded memory and leave nothing behind', async () => {
  const { result } = await tools.call('sandbox_create')
  const sandbox_id = result.id
  await tools.call('sandbox_write_file', { sandbox_id, path: '/root/big', content: 'x'.repeat(4 * 1024 * 1024) })
  const { key: ownKey } = await toolClient(agent)
  const body = ask(1, 'tools/call', { name: 'sandbox_read_file', arguments: { sandbox_id, path: '/root/big' } })
  const deaf = await Promise.all(Array.from({ length: 10 }, dial))
  for (const socket of deaf) {
    socket.pause()
    // On one connection, the requests behind the first are refused without waiting for the first to be read.
    for (let index = 0; index < 50; index++) socket.write(head(body.length, ownKey) + body)
  }
  await goesOn()
  // 500 responses of 8 MB would take 4 GB. At most one per connection is in memory.
  expect(process.memoryUsage().rss).toBeLessThan(2 * 1024 ** 3)
  for (const socket of deaf) socket.destroy()
  await nothingStays()
  await eventually(() => goesOn(ownKey))
  await service.send(`/v1/sandboxes/${sandbox_id}`, { method: 'DELETE' })
})

test('clients that disconnect mid-call leave only the command, which ends at its timeout', async () => {
  const { result } = await tools.call('sandbox_create')
  const sandbox_id = result.id
  const leaving = await Promise.all(Array.from({ length: 10 }, dial))
  onTestFinished(() => {
    for (const socket of leaving) socket.destroy()
  })
  const params = {
    name: 'sandbox_exec',
    // In seconds. Long enough for all ten to run at the same time on a slow computer.
    arguments: { sandbox_id, command: 'sleep 3599', timeout: 15 },
    _meta: { progressToken: 1 },
  }
  const body = ask(1, 'tools/call', params)
  for (const socket of leaving) socket.write(head(body.length) + body)
  const sleeping = async (): Promise<number> => {
    const command = 'grep -lz "^3599$" /proc/[0-9]*/cmdline 2>/dev/null | wc -l'
    const result = await service.send(`/v1/sandboxes/${sandbox_id}/exec`, { body: { command } })
    return Number(result.json.stdout)
  }
  await eventually(async () => expect(await sleeping()).toBeGreaterThanOrEqual(10))
  for (const socket of leaving) socket.destroy()
  await eventually(async () => expect(await sleeping()).toBe(0))
  await nothingStays()
  await service.send(`/v1/sandboxes/${sandbox_id}`, { method: 'DELETE' })
})
