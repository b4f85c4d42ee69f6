import {
  addToolServer,
  changeExternalTool,
  changeToolServer,
  listToolServers,
  removeToolServer,
  testToolServer,
} from '#shared/contract/toolServers.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { ToolServers } from './toolServers.ts'

export function createToolServerRoutes(servers: ToolServers): LocalEndpoint[] {
  return [
    createLocalEndpoint(listToolServers, () => ({ servers: servers.list() })),
    createLocalEndpoint(addToolServer, ({ body: { name, place, secret_names: secrets } }) =>
      servers.add({ name, transport: place, secrets }),
    ),
    createLocalEndpoint(changeToolServer, ({ params, body }) => servers.setEnabled(params.serverId, body.enabled)),
    createLocalEndpoint(testToolServer, ({ params }, { signal }) => servers.test(params.serverId, signal)),
    createLocalEndpoint(changeExternalTool, ({ params, body }) => servers.agree(params.serverId, body.tools)),
    createLocalEndpoint(removeToolServer, async ({ params }) => {
      await servers.remove(params.serverId)
      return { success: true, id: params.serverId }
    }),
  ]
}
