import { createGuardedFetch } from './guardedFetch.ts'
import { createMcpClient, type Deadlines, type McpConnection } from './mcpClient.ts'

type Options = {
  url: string
  /** Headers sent with each request to this server only. */
  secrets: Readonly<Record<string, string>>
  deadlines: Deadlines
  signal: AbortSignal
  resolve?: Parameters<typeof createGuardedFetch>[1]['resolve']
}

const closeTimeoutMs = 1_000

/** Connects to an MCP server over Streamable HTTP. @throws AppError `tool-server/failed`, `tool-server/address` */
export async function createHttpServer({ url, secrets, deadlines, signal, resolve }: Options): Promise<McpConnection> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const guarded = createGuardedFetch(url, { secrets: () => secrets, ...(resolve && { resolve }) })
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: guarded.fetch,
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 1,
    },
  })
  try {
    const client = await createMcpClient({ transport, deadlines, fault: () => undefined, signal })
    return {
      ...client,
      async close() {
        const late = new Promise((resolve) => setTimeout(resolve, closeTimeoutMs).unref())
        await Promise.race([transport.terminateSession().catch(() => {}), late])
        await client.close()
        guarded.close()
      },
    }
  } catch (error) {
    guarded.close()
    throw error
  }
}
