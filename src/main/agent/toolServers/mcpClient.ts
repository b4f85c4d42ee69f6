import type { Client, Transport } from '@modelcontextprotocol/client'
import { version } from '#platform/program/version.ts'
import { AppError } from '#shared/appError.ts'
import { toolServerLimits } from '#shared/contract/toolServers.ts'
import { sanitizeBlock, sanitizeLine } from '#shared/untrustedText.ts'
import { ToolResponse } from './toToolResult.ts'

/** Connection to one MCP server through the official client, in the revision of the server. */
export type McpConnection = {
  serverName: string | null
  protocolVersion: string | null
  isOpen(): boolean
  /** Whether the server announced a change of its list since the last read. */
  hasChanged(): boolean
  /** Lists all tools as received. @throws AppError `tool-server/failed` */
  list(signal: AbortSignal): Promise<unknown[]>
  /** @throws AppError `tool-server/failed`, or `tool-server/answer` with the server's message */
  call(name: string, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<ToolResponse>
  close(): Promise<void>
}
type CallOptions = { signal: AbortSignal; progress: (message: string) => void }

export type Deadlines = { connectMs: number; listMs: number; silentMs: number; callMs: number }
export const defaultDeadlines: Deadlines = { connectMs: 60_000, listMs: 20_000, silentMs: 120_000, callMs: 600_000 }

type Options = {
  transport: Transport
  deadlines: Deadlines
  /** Returns the reason why the connection ended, if the transport provides one. */
  fault: () => string | undefined
  signal: AbortSignal
}

const probeMs = 8_000

/** @throws AppError `tool-server/failed`, `tool-server/address` */
export async function createMcpClient({ transport, deadlines, fault, signal }: Options): Promise<McpConnection> {
  const { Client: McpClient } = await import('@modelcontextprotocol/client')
  // Declares no capabilities, so the protocol refuses requests for sampling, roots and elicitation.
  const client: Client = new McpClient(
    { name: 'steward', version },
    {
      capabilities: {},
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.min(probeMs, deadlines.connectMs) } },
      inputRequired: { autoFulfill: false },
      listMaxPages: 8,
      // Schemas of third parties are not evaluated, not even for results.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
    },
  )
  let open = true
  let changed = false
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    changed = true
  })
  client.onclose = () => {
    open = false
  }
  const mapError = (error: unknown): AppError => toMcpError(error, fault())
  try {
    await client.connect(transport, { timeout: deadlines.connectMs, signal })
  } catch (error) {
    await client.close().catch(() => {})
    throw mapError(error)
  }
  const itself = client.getServerVersion()
  return {
    serverName: itself ? sanitizeLine(`${itself.title ?? itself.name} ${itself.version}`, 80) : null,
    protocolVersion: sanitizeLine(client.getNegotiatedProtocolVersion() ?? '', 20) || null,
    isOpen: () => open,
    hasChanged: () => changed,
    async list(options) {
      changed = false
      try {
        const { tools } = await client.listTools(undefined, {
          cacheMode: 'refresh',
          timeout: deadlines.listMs,
          maxTotalTimeout: deadlines.listMs,
          signal: options,
        })
        return tools.slice(0, toolServerLimits.tools + 1)
      } catch (error) {
        throw mapError(error)
      }
    },
    async call(name, args, { signal: callerSignal, progress }) {
      try {
        const answer = await client.callTool(
          { name, arguments: { ...args } },
          {
            signal: callerSignal,
            timeout: deadlines.silentMs,
            maxTotalTimeout: deadlines.callMs,
            resetTimeoutOnProgress: true,
            onprogress: ({ message }) => message !== undefined && progress(sanitizeLine(String(message), 120)),
          },
        )
        return ToolResponse.parse(answer)
      } catch (error) {
        throw mapError(error)
      }
    },
    close: () => client.close(),
  }
}

const maxErrorText = 1_000
/** HTTP errors of the client package. 404 and 401 indicate a wrong address and a missing sign-in. */
const refusals: Readonly<Record<number, string>> = {
  401: 'The server requires authentication. Add a header with an API key from the server.',
  403: 'The server rejected the key.',
  404: 'There is no MCP server at this address.',
  405: 'There is no MCP server at this address.',
}

function toMcpError(error: unknown, fault: string | undefined): AppError {
  if (error instanceof AppError) return error
  const cause = findCause(error)
  if (cause) return cause
  if (fault !== undefined) return new AppError('tool-server/failed', fault, { cause: error })
  const { name = '', message = '', code, data }: ErrorLike = error instanceof Error ? error : {}
  const status = Number(data?.status)
  if (Number.isInteger(status) && status >= 300) {
    const sentence =
      refusals[status] ??
      (status < 400 ? 'The server responded with a redirect, which Steward does not follow.' : undefined)
    return new AppError('tool-server/failed', sentence ?? `The server responded with status ${status}.`, {
      cause: error,
    })
  }
  const why = String(code)
  if (/input/i.test(why) || /input_required|elicit|sampling/i.test(message)) {
    return new AppError(
      'tool-server/unusable',
      'The server tried to ask the user a question, which Steward does not support.',
      {
        cause: error,
      },
    )
  }
  if (/timeout/i.test(why)) return new AppError('tool-server/failed', 'The server did not respond.', { cause: error })
  if (name === 'ProtocolError') {
    return new AppError('tool-server/answer', `The server returned an error: ${sanitizeBlock(message, maxErrorText)}`, {
      cause: error,
    })
  }
  if (/closed|not.?connected/i.test(why))
    return new AppError('tool-server/failed', 'The server exited.', { cause: error })
  return new AppError('tool-server/failed', 'The server cannot be reached, or its response cannot be read.', {
    cause: error,
  })
}

type ErrorLike = { name?: string; message?: string; code?: unknown; data?: { status?: unknown } }

/** Finds our error if the client package wrapped it. */
function findCause(error: unknown): AppError | undefined {
  let present = error
  for (let depth = 0; depth < 5 && present instanceof Error; depth += 1) {
    if (present instanceof AppError) return present
    present = present.cause
  }
  return undefined
}
