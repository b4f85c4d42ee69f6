import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { createSandbox, getSandbox } from '#shared/contract/sandboxes.ts'
import { createToolClient } from '#shared/contract/toolClients.ts'
import { createConwayTerminal } from '../../support/clients/conwayTerminal.ts'
import { openPersonSession } from '../../support/clients/personSession.ts'
import { createStewardClient } from '../../support/clients/stewardClient.ts'
import { createPersonClient } from '../../support/clients/walletForms.ts'
import { temporaryFolder } from '../../support/fixtures/temporaryFolder.ts'
import { type Steward, startSteward } from '../../support/processes/steward.ts'
import { type Compared, measureTogether, type Samples } from '../figures.ts'

export type ToolFigures = {
  /** Figures of `sandbox_get` in each revision of MCP, and of `GET /v1/sandboxes/:id` at the service or the agent. */
  calls: { revision: Revision; target: RestAt; call: Compared }[]
  /** Figures of listing all tools over HTTP, compared with `conway-terminal` over stdio. */
  listing: Compared
  tokens: { mine: number; peer: number }
  /** Figures of twenty clients that call without a pause. */
  busy: { calls: number; wrong: number; seconds: number; times: Samples }
}

const clients = 20
/** Target of the REST call. The agent forwards it to the service, as it does for a tool call. */
export type RestAt = 'service' | 'agent'
export type Revision = '2025-11-25' | '2026-07-28'
const revisions: readonly Revision[] = ['2026-07-28', '2025-11-25']

export async function toolFigures(tries: (count: number) => number): Promise<ToolFigures> {
  const steward = await startSteward()
  try {
    const client = createStewardClient(steward.serviceUrl, steward.ownerKey)
    const { id } = await client.call(createSandbox, { name: 'bench', network: 'none' })
    const { url, keyFor, session } = await toolKeys(steward)
    const key = await keyFor('calls')
    const path = getSandbox.path.replace(':id', id)
    const rests = [
      ['service', `${steward.serviceUrl}${path}`, { authorization: `Bearer ${steward.ownerKey}` }],
      ['agent', new URL(path, url).href, session],
    ] as const
    const calls: ToolFigures['calls'] = []
    for (const revision of revisions) {
      for (const [target, rest, headers] of rests) {
        const call = await compareCalls({ url, key, id, revision, rest: { url: rest, headers } }, tries(1000))
        calls.push({ revision, target, call })
      }
    }
    const { listing, tokens } = await compareListings({ url, key: await keyFor('lists'), steward }, tries(100))
    const clientKeys = await Promise.all(
      Array.from({ length: clients }, async (_, index) => ({
        key: await keyFor(`client ${index}`),
        id: (await client.call(createSandbox, { name: `bench ${index}`, network: 'none' })).id,
      })),
    )
    const busy = await keepBusy(url, clientKeys, tries(60))
    return { calls, listing, tokens, busy }
  } finally {
    await steward.close()
  }
}

async function toolKeys({ url }: Steward) {
  const { origin, hash } = new URL(url)
  const session = await openPersonSession(origin, hash.slice('#token='.length))
  const person = createPersonClient(origin, session)
  const keyFor = async (name: string) => (await person.call(createToolClient, { name })).key
  return { url: `${origin}/mcp`, keyFor, session }
}

type CallContext = {
  url: string
  key: string
  id: string
  revision: Revision
  rest: { url: string; headers: Record<string, string> }
}

function compareCalls({ url, key, id, revision, rest }: CallContext, count: number): Promise<Compared> {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const isNew = revision === '2026-07-28'
  const params = { name: 'sandbox_get', arguments: { sandbox_id: id }, ...(isNew && { _meta: envelope }) }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': revision,
    ...(isNew && { 'mcp-method': 'tools/call', 'mcp-name': 'sandbox_get' }),
  }
  const assertOk = async (response: Promise<Response>) => {
    const text = await (await response).text()
    if (!text.includes(id)) throw new Error(`The call failed: ${text.slice(0, 300)}`)
  }
  return measureTogether(count, {
    mine: () => assertOk(fetch(url, { method: 'POST', headers, body })),
    peer: () => assertOk(fetch(rest.url, { headers: rest.headers })),
  })
}

async function compareListings(
  { url, key, steward }: { url: string; key: string; steward: Steward },
  count: number,
): Promise<Pick<ToolFigures, 'listing' | 'tokens'>> {
  const client = await connectClient(url, key)
  const peer = await createConwayTerminal({
    ...{ home: temporaryFolder('conway-home'), serviceUrl: steward.serviceUrl, key: steward.ownerKey },
  }).connect()
  try {
    const listing = await measureTogether(count, { mine: () => client.listTools(), peer: () => peer.list() })
    const countTokens = (tools: readonly object[]) => encode(JSON.stringify(tools.map(asModelsSee))).length
    return {
      listing,
      tokens: { mine: countTokens((await client.listTools()).tools), peer: countTokens(await peer.list()) },
    }
  } finally {
    await peer.close()
    await client.close()
  }
}

/** Returns the fields of a tool that models see: name, description and input schema. */
function asModelsSee(tool: object): object {
  const { name, description, inputSchema } = tool as { name: string; description?: string; inputSchema?: object }
  return { name, description, inputSchema }
}

/** Runs clients that each read a different sandbox, to detect lost or swapped responses. */
async function keepBusy(url: string, clientKeys: readonly { key: string; id: string }[], seconds: number) {
  const all = await Promise.all(clientKeys.map(async ({ key, id }) => ({ id, client: await connectClient(url, key) })))
  const end = performance.now() + seconds * 1000
  const times: number[] = []
  let wrong = 0
  await Promise.all(
    all.map(async ({ client, id }) => {
      while (performance.now() < end) {
        const start = performance.now()
        const { structuredContent } = await client.callTool({ name: 'sandbox_get', arguments: { sandbox_id: id } })
        times.push(performance.now() - start)
        if ((structuredContent as { id?: string } | undefined)?.id !== id) wrong += 1
      }
    }),
  )
  for (const { client } of all) await client.close()
  return { calls: times.length, wrong, seconds, times }
}

async function connectClient(url: string, key: string): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'legacy' } })
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  return client
}
