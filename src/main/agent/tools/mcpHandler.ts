import { createMcpHandler } from '@modelcontextprotocol/server'
import type { Exchange } from '#platform/http/exchange.ts'
import type { Log } from '#platform/logging/log.ts'
import { ToolCaller } from '../base/toolCaller.ts'
import { runMcpExchange } from './mcpExchange.ts'
import { createMcpServer, type McpServerOptions } from './mcpServer.ts'

export type McpHandler = {
  answer(exchange: Exchange, caller: ToolCaller): Promise<void>
  close(): Promise<void>
}

/** Maximum request body size. File uploads are part of their call. */
const maxRequestBodySize = 16 * 1024 * 1024

/**
 * Creates the handler for MCP over Streamable HTTP without sessions. Each request is independent and specifies its
 * revision.
 */
export function createToolMcpHandler(options: McpServerOptions, log: Log): McpHandler {
  const onerror = (error: Error): void => log.info('request to /mcp failed', { error })
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
