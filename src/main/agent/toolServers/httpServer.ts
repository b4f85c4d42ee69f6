import { guardedFetch } from './guardedFetch.ts'
import { type Deadlines, type ServedClient, servedClient } from './servedClient.ts'

type Options = {
  url: string
  /** Headers, sent with each request to this server alone. */
  secrets: Readonly<Record<string, string>>
  deadlines: Deadlines
  signal: AbortSignal
  resolve?: Parameters<typeof guardedFetch>[1]['resolve']
}

const leaveMs = 1_000

/** An MCP server at an address, by Streamable HTTP. @throws AppError `tool-server/failed`, `tool-server/address` */
export async function httpServer({ url, secrets, deadlines, signal, resolve }: Options): Promise<ServedClient> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const guarded = guardedFetch(url, { secrets: () => secrets, ...(resolve && { resolve }) })
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
    const client = await servedClient({ transport, deadlines, fault: () => undefined, signal })
    return {
      ...client,
      async close() {
        const late = new Promise((resolve) => setTimeout(resolve, leaveMs).unref())
        await Promise.race([transport.terminateSession().catch(() => {}), late])
        await client.close()
        guarded.close()
      },
    }
  } catch (failure) {
    guarded.close()
    throw failure
  }
}
