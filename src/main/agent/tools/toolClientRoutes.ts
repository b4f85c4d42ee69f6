import {
  changeToolClient,
  createToolClient,
  listToolClients,
  mcpPath,
  revokeToolClient,
} from '#shared/contract/toolClients.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { ToolClients } from './toolClients.ts'

/** Command that starts `steward-mcp`. */
export type StdioStart = { command: string[]; environment: Record<string, string> }

export function createToolClientRoutes(clients: ToolClients, start: StdioStart): LocalEndpoint[] {
  return [
    createLocalEndpoint(listToolClients, (_, { origin }) => ({
      clients: clients.list(),
      url: `${origin}${mcpPath}`,
      command: start.command,
      environment: { ...start.environment },
    })),
    createLocalEndpoint(createToolClient, ({ body }) => clients.create(body)),
    createLocalEndpoint(changeToolClient, ({ params, body }) => clients.change(params.clientId, body)),
    createLocalEndpoint(revokeToolClient, ({ params }) => {
      clients.revoke(params.clientId)
      return { success: true, id: params.clientId }
    }),
  ]
}
