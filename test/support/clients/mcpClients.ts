import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { ToolCaller } from '#agent/base/toolCaller.ts'
import type { Output } from '#shared/contract/route.ts'
import type { createToolClient } from '#shared/contract/toolClients.ts'
import type { RunningAgent } from '../processes/runningAgent.ts'

/** MCP clients of an agent, built on the official SDK. */
export type McpClient = {
  client: Client
  /** Returns the output as a user sees it: structured content, text, or the text of the error. */
  call(name: string, input?: Record<string, unknown>): Promise<McpAnswer>
}
// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape, checked by matchers
export type McpAnswer = { result: any; text: string; isError: boolean }

export type Revision = '2025-11-25' | '2026-07-28'

type CreatedToolClient = Output<typeof createToolClient>

export async function toolClient(agent: RunningAgent, settings: object = {}): Promise<CreatedToolClient> {
  const { json } = await agent.send('/local/tools/clients', { body: { name: 'researcher', ...settings } })
  return json as CreatedToolClient
}

/** Adds a tool client as a caller of the executor. */
export async function createToolCaller(agent: RunningAgent, settings: object = {}): Promise<ToolCaller> {
  const { client } = await toolClient(agent, settings)
  return { requester: { kind: 'tool', id: client.id, name: client.name } }
}

/** Adds a conversation with these tools as a caller of the executor. */
export async function chatCaller(agent: RunningAgent, tools: object = {}): Promise<ToolCaller> {
  const body = { title: 'Chat', tools: { enabled: true, ...tools } }
  const { json } = await agent.send('/local/chat/conversations', { body })
  return { requester: { kind: 'tool', id: json.id, name: 'Chat' } }
}

export async function createMcpClient(
  { url, key, revision = '2025-11-25' }: { url: string; key: string; revision?: Revision },
  options: Partial<ConstructorParameters<typeof Client>[1]> = {},
): Promise<McpClient> {
  const mode = revision === '2025-11-25' ? ('legacy' as const) : { pin: revision }
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, ...options })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${key}` } } }),
  )
  return { client, call: (name, input = {}) => callTool(client, name, input) }
}

export async function callTool(client: Client, name: string, input: Record<string, unknown>): Promise<McpAnswer> {
  const { structuredContent, content, isError = false } = await client.callTool({ name, arguments: input })
  const [block] = content as { type: string; text?: string }[]
  return { result: structuredContent, text: block?.text ?? '', isError: isError === true }
}
