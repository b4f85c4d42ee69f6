import { afterAll, beforeAll, expect, test } from 'vitest'
import { toolTable } from '../../src/shared/contract/tools/toolTable.ts'
import { eventually } from '../support/eventually.ts'
import { type McpClient, mcpClient, type Revision, toolClient } from '../support/mcpClients.ts'
import { type RunningAgent, runningAgent } from '../support/runningAgent.ts'
import { runningService, type TestService } from '../support/runningService.ts'
import { temporaryFolder } from '../support/temporaryFolder.ts'

/** Tools over Streamable HTTP, with a real service, real sandboxes, and the official client. */
let service: TestService
let agent: RunningAgent
let url: string
let key: string
const clients: McpClient[] = []

beforeAll(async () => {
  service = await runningService()
  agent = await runningAgent({
    dataFolder: temporaryFolder('agent'),
    target: { url: service.url, key: service.key, certificate: undefined },
  })
  await eventually(() => expect(agent.connection().state).toBe('connected'))
  url = `${agent.origin}/mcp`
  key = (await toolClient(agent)).key
})
afterAll(async () => {
  for (const { client } of clients) await client.close()
  await agent?.close()
  await service?.close()
})

async function opened(revision: Revision, given = key): Promise<McpClient> {
  const client = await mcpClient({ url, key: given, revision })
  clients.push(client)
  return client
}

test.each(['2025-11-25', '2026-07-28'] as const)('lists and calls tools in revision %s', async (revision) => {
  const { client, call } = await opened(revision)
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(toolTable.map(({ name }) => name))
  const made = await call('sandbox_create', { name: 'atlas' })
  expect(made.result).toMatchObject({ name: 'atlas', vcpu: 1, memory_mb: 512, region: 'eu-north' })
  expect(JSON.parse(made.text)).toEqual(made.result)
  const { id: sandbox_id } = made.result
  expect((await call('sandbox_exec', { sandbox_id, command: 'echo hi; exit 3' })).result).toMatchObject({
    stdout: 'hi\n',
    exit_code: 3,
  })
  await call('sandbox_write_file', { sandbox_id, path: '/root/a.txt', content: 'line "one"\n' })
  const read = await call('sandbox_read_file', { sandbox_id, path: '/root/a.txt' })
  expect([read.text, read.result.content]).toEqual(['line "one"\n', 'line "one"\n'])
  await service.send(`/v1/sandboxes/${sandbox_id}`, { method: 'DELETE' })
})
