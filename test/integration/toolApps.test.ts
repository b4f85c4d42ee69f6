import { afterAll, beforeAll, expect, test } from 'vitest'
import { receiptUri } from '#agent/tools/mcpApps.ts'
import type { ToolProfile } from '#shared/contract/toolClients.ts'
import { toolTable } from '#shared/contract/tools/toolTable.ts'
import { createMcpClient, type McpClient, type Revision, toolClient } from '../support/clients/mcpClients.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createRunningAgent, type RunningAgent } from '../support/processes/runningAgent.ts'

/** Data for hosts of MCP Apps, read by the official client. The appearance is tested in `test/e2e/toolApps.test.ts`. */
let agent: RunningAgent
const clients: McpClient[] = []

beforeAll(async () => {
  agent = await createRunningAgent({ dataFolder: temporaryFolder('agent') })
})
afterAll(async () => {
  for (const { client } of clients) await client.close()
  await agent?.close()
})

async function openClient(profile: ToolProfile, revision: Revision): Promise<McpClient['client']> {
  const { key } = await toolClient(agent, { name: profile, profile })
  const client = await createMcpClient({ url: `${agent.origin}/mcp`, key, revision })
  clients.push(client)
  return client.client
}

test.each(['2025-11-25', '2026-07-28'] as const)(
  'in revision %s, tools that pay or delete reference the page',
  async (revision) => {
    const client = await openClient('all', revision)
    expect(client.getServerCapabilities()?.extensions).toEqual({
      'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] },
    })
    const { tools } = await client.listTools()
    const named = tools.filter(({ _meta }) => (_meta?.ui as { resourceUri?: string })?.resourceUri === receiptUri)
    const expected = toolTable.filter(({ effect }) => effect === 'pay' || effect === 'destroy')
    expect(named.map(({ name }) => name)).toEqual(expected.map(({ name }) => name))
  },
)

test('the page is a single document without external loads or connections', async () => {
  const client = await openClient('money', '2025-11-25')
  const { contents } = await client.readResource({ uri: receiptUri })
  expect(contents).toHaveLength(1)
  const [page] = contents as { uri: string; mimeType: string; text: string; _meta: object }[]
  expect(page).toMatchObject({
    uri: receiptUri,
    mimeType: 'text/html;profile=mcp-app',
    _meta: { ui: { csp: { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] } } },
  })
  const text = page?.text ?? ''
  expect(text).toMatch(/^<!doctype html>/)
  expect(text).not.toMatch(
    /\bsrc=|\bhref=|@import|url\(|\bimport\s*[({"']|\bfrom\s*["']|fetch\(|XMLHttpRequest|WebSocket/,
  )
  expect(text.match(/<\/script/g)).toHaveLength(1)
  expect(text.length).toBeLessThan(24_000)
})

test('a client that cannot pay or delete sees no page', async () => {
  const client = await openClient('read-only', '2025-11-25')
  expect((await client.listResources()).resources.map(({ uri }) => uri)).not.toContain(receiptUri)
  await expect(client.readResource({ uri: receiptUri })).rejects.toThrow()
})

test.each([
  'ui://steward/receipt/',
  'ui://steward/../receipt',
  'UI://steward/receipt',
  'ui://steward/prompt.js',
  'ui://',
])('returns no page for %s', async (uri) => {
  const client = await openClient('all', '2025-11-25')
  await expect(client.readResource({ uri })).rejects.toThrow()
})
