import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { toolTable } from '#shared/contract/tools/toolTable.ts'
import {
  createMcpClient,
  createToolCaller,
  type McpAnswer,
  type McpClient,
  toolClient,
} from '../support/clients/mcpClients.ts'
import { createPayingAgent, noLimits, type PayingAgent } from '../support/processes/payingAgent.ts'
import { exchange } from '../support/processes/runningService.ts'

/** Programs and models reach only the servers on this computer that the user allowed, and reads change nothing. */
type RecordedRequest = { method: string; path: string; body: string }
let paying: PayingAgent
let server: ReturnType<typeof createServer>
let host: string
const requests: RecordedRequest[] = []
const clients: McpClient[] = []
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      requests.push({ method: request.method ?? '', path: request.url ?? '', body: Buffer.concat(chunks).toString() })
      response.end(JSON.stringify({ secret: 'local-admin-data' }))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  paying = await createPayingAgent()
})
afterAll(async () => {
  for (const { client } of clients) await client.close()
  await paying?.close()
  server?.closeAllConnections()
  await new Promise((resolve) => server?.close(resolve))
})
beforeEach(() => void requests.splice(0))

const nameServers = (...local_servers: string[]) => paying.nameServers(...local_servers)

async function openClient(settings: object): Promise<McpClient['call']> {
  const { key } = await toolClient(paying.agent, settings)
  const client = await createMcpClient({ url: `${paying.agent.origin}/mcp`, key })
  clients.push(client)
  return client.call
}

const send = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"Image":"x"}' }
const expectRefusal = (answer: McpAnswer): string => {
  expect(answer.isError, answer.text).toBe(true)
  return answer.text
}

describe('a server on this computer that the user did not allow', () => {
  beforeEach(() => nameServers())

  test.each([
    ['a plain client', {}],
    ['a read-only client', { profile: 'read-only' }],
    ['a client in dry run', { dry_run: true }],
    ['a client that may do everything', { policy: { changes: 'allow', destroys: 'allow' } }],
  ])('cannot be reached by %s', async (_, settings) => {
    const call = await openClient(settings)
    for (const name of ['x402_check', 'x402_fetch', 'x402_discover']) {
      for (const method of methods) {
        const options = name === 'x402_discover' ? {} : { method }
        expectRefusal(await call(name, { url: `http://${host}/index/*`, ...options }))
      }
    }
    const names = [
      `localhost:${host.split(':')[1]}`,
      `[::1]:${host.split(':')[1]}`,
      `a.localhost:${host.split(':')[1]}`,
    ]
    for (const hostname of names) expectRefusal(await call('x402_check', { url: `http://${hostname}/` }))
    expect(requests).toEqual([])
  })

  test('cannot be reached with an API key but is reachable from the window', async () => {
    const key = { authorization: `Bearer ${paying.service.key}` }
    const body = { url: `http://${host}/containers/create`, ...send }
    for (const path of ['check', 'fetch', 'discover']) {
      const options = path === 'fetch' ? body : { url: body.url }
      const answer = await exchange(paying.agent.origin, `/local/payments/${path}`, { body: options, headers: key })
      expect([answer.status, answer.json.code], answer.text).toEqual([400, 'purchase/address'])
    }
    expect(requests).toEqual([])
    expect((await paying.post('/local/payments/fetch', body)).json.answer.status).toBe(200)
    expect(requests).toEqual([{ method: 'POST', path: '/containers/create', body: send.body }])
  })
})

describe('a server on this computer that the user allowed', () => {
  beforeEach(() => nameServers(host))

  test('is read by read-only tools with GET and HEAD and no body', async () => {
    const call = await openClient({ profile: 'read-only' })
    for (const { name, input } of toolTable.filter(({ effect }) => effect === 'read')) {
      const url = { url: `http://${host}/${name}` }
      for (const method of methods) {
        await call(name, { ...('url' in input.shape && url), ...('method' in input.shape && { method }) }).catch(
          () => {},
        )
      }
    }
    expect(requests.length).toBeGreaterThan(2)
    expect(requests.filter(({ method, body }) => !['GET', 'HEAD'].includes(method) || body !== '')).toEqual([])
  })

  test('is allowed with its port only, and another port remains closed', async () => {
    nameServers('127.0.0.1:9')
    expectRefusal(await (await openClient({}))('x402_check', { url: `http://${host}/` }))
    expect(requests).toEqual([])
  })

  test('receives changes according to the policy for changes', async () => {
    const request = { url: `http://${host}/x`, ...send }
    const denied = await openClient({ policy: { changes: 'deny', destroys: 'ask' } })
    expect(expectRefusal(await denied('x402_fetch', request))).toContain('not allowed to call')
    const result = await paying.agent.tools.runTool('x402_fetch', request, {
      caller: await createToolCaller(paying.agent, { name: 'asks', policy: { changes: 'ask', destroys: 'ask' } }),
      signal: new AbortController().signal,
      waitMs: { person: 0, program: 0 },
    })
    expect(result).toMatchObject({
      kind: 'waiting',
      waiting: { for: 'person', message: expect.stringContaining('POST') },
    })
    expect(requests).toEqual([])
    const allowed = await openClient({ policy: { changes: 'allow', destroys: 'ask' } })
    expect((await allowed('x402_fetch', request)).result).toMatchObject({ status: 200 })
    expect(requests).toEqual([{ method: 'POST', path: '/x', body: send.body }])
  })

  test('receives no request while everything is stopped', async () => {
    const call = await openClient({ policy: { changes: 'allow', destroys: 'allow' } })
    await paying.post('/local/stop', { stopped: true })
    try {
      for (const method of ['POST', 'DELETE']) {
        expectRefusal(await call('x402_fetch', { url: `http://${host}/x`, method }))
        expectRefusal(await call('x402_check', { url: `http://${host}/x`, method }))
      }
      const headers = { authorization: `Bearer ${paying.service.key}` }
      const body = { url: `http://${host}/x`, ...send }
      const answer = await exchange(paying.agent.origin, '/local/payments/fetch', { body, headers })
      expect(answer.json.code).toBe('intent/stopped')
      expect(requests).toEqual([])
    } finally {
      await paying.post('/local/stop', { stopped: false })
    }
  })
})

test('limits that allow programs a server on this computer require confirmation', async () => {
  nameServers()
  const answer = await paying.budgets({ ...noLimits, local_servers: [host] })
  expect([answer.status, answer.json.code]).toEqual([403, 'policy/confirmation'])
})
