import { createHttpServer } from '#agent/toolServers/httpServer.ts'
import { defaultDeadlines } from '#agent/toolServers/mcpClient.ts'

/**
 * Connects to an MCP server as the chat does, lists its tools and calls each one. Run by the protocol's own judge, which
 * passes the address as the last argument, and calls to make in MCP_CONFORMANCE_CONTEXT.
 */
type Tool = { name: string; inputSchema?: { properties?: Record<string, { type?: string }> } }
type Call = { name: string; arguments?: Record<string, unknown> }

const samples: Readonly<Record<string, unknown>> = { string: 'text', number: 5, integer: 5, boolean: true, object: {} }

const url = process.argv.at(-1) ?? ''
const signal = AbortSignal.timeout(10_000)
const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as { toolCalls?: Call[] } // of the judge
const client = await createHttpServer({ url, secrets: {}, deadlines: defaultDeadlines, signal })
try {
  const tools = (await client.list(signal)) as Tool[] // checked by the SDK
  for (const { name, arguments: args = {} } of toolCalls ?? tools.map((tool) => sampleCall(tool, tools))) {
    const answer = await client.call(name, args, { signal, progress: () => {} }).catch(String)
    process.stdout.write(`${name}: ${JSON.stringify(answer)}\n`)
  }
} finally {
  await client.close()
}

/** A parameter called `schema` gets the schema of the first tool: the judge looks whether it arrives unchanged. */
function sampleCall({ name, inputSchema }: Tool, [first]: Tool[]): Call {
  const properties = Object.entries(inputSchema?.properties ?? {})
  return {
    name,
    arguments: Object.fromEntries(
      properties.map(([key, { type = 'string' }]) => [key, key === 'schema' ? first?.inputSchema : samples[type]]),
    ),
  }
}
