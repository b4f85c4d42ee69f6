import { createMcpHandler } from '@modelcontextprotocol/server'
import type { Exchange } from '#platform/http/exchange.ts'
import type { Log } from '#platform/log.ts'
import { ToolCaller } from '../base/toolCaller.ts'
import { runMcpExchange } from './mcpExchange.ts'
import { createMcpServer, type McpServerOptions } from './mcpServer.ts'

export type McpHandler = {
  answer(exchange: Exchange, caller: ToolCaller): Promise<void>
  close(): Promise<void>
}

/** A file that is written comes within its call. */
const maxRequestBodySize = 16 * 1024 * 1024

/** MCP over Streamable HTTP without sessions: each request is independent, in the revision that it names. */
export function createToolMcpHandler(options: McpServerOptions, log: Log): McpHandler {
  const onerror = (error: Error): void => log.info('a request to /mcp failed', { error })
  const handler = createMcpHandler(
    ({ era, authInfo }) => createMcpServer(options, { era, caller: ToolCaller.parse(authInfo?.extra?.caller) }),
    { maxRequestBodySize, onerror },
  )
  return {
    answer(exchange, caller) {
      const authInfo = { token: '', clientId: caller.requester.id, scopes: [], extra: { caller } }
      return runMcpExchange(exchange, { handler, authInfo, maxBytes: maxRequestBodySize })
    },
    close: () => handler.close(),
  }
}
