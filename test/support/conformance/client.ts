import { createHttpServer } from '#agent/toolServers/httpServer.ts'
import { defaultDeadlines } from '#agent/toolServers/mcpClient.ts'

/**
 * Connects to an MCP server as the chat does, lists its tools and calls each one. Run by the protocol's conformance
 * suite, which passes the URL as the last argument and the calls to make in MCP_CONFORMANCE_CONTEXT.
 */
type Tool = { name: string; inputSchema?: { properties?: Record<string, { type?: string }> } }
type Call = { name: string; arguments?: Record<string, unknown> }

const samples: Readonly<Record<string, unknown>> = { string: 'text', number: 5, integer: 5, boolean: true, object: {} }

const url = process.argv.at(-1) ?? ''
const signal = AbortSignal.timeout(10_000)
// set by the conformance suite
const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as { toolCalls?: Call[] }
const client = await createHttpServer({ url, secrets: {}, deadlines: defaultDeadlines, signal })
try {
  const tools = (await client.list(signal)) as Tool[] // validated by the SDK
  for (const { name, arguments: args = {} } of toolCalls ?? tools.map((tool) => sampleCall(tool, tools))) {
    const answer = await client.call(name, args, { signal, progress: () => {} }).catch(String)
    process.stdout.write(`${name}: ${JSON.stringify(answer)}\n`)
  }
} finally {
  await client.close()
}

/**
 * Passes the schema of the first tool to a parameter called `schema`, because the suite checks that it arrives
 * unchanged.
 */
function sampleCall({ name, inputSchema }: Tool, [first]: Tool[]): Call {
  const properties = Object.entries(inputSchema?.properties ?? {})
  return {
    name,
    arguments: Object.fromEntries(
      properties.map(([key, { type = 'string' }]) => [key, key === 'schema' ? first?.inputSchema : samples[type]]),
    ),
  }
}
