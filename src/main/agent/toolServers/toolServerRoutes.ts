import {
  addToolServer,
  changeServedTool,
  changeToolServer,
  listToolServers,
  removeToolServer,
  testToolServer,
} from '#shared/contract/toolServers.ts'
import { type LocalEndpoint, localEndpoint } from '../base/localEndpoint.ts'
import type { ToolServers } from './toolServers.ts'

export function createToolServerRoutes(servers: ToolServers): LocalEndpoint[] {
  return [
    localEndpoint(listToolServers, () => ({ servers: servers.list() })),
    localEndpoint(addToolServer, ({ body: { name, place, secret_names: secrets } }) =>
      servers.add({ name, place, secrets }),
    ),
    localEndpoint(changeToolServer, ({ params, body }) => servers.turn(params.serverId, body.enabled)),
    localEndpoint(testToolServer, ({ params }, { signal }) => servers.test(params.serverId, signal)),
    localEndpoint(changeServedTool, ({ params, body }) => servers.agree(params.serverId, body.tools)),
    localEndpoint(removeToolServer, async ({ params }) => {
      await servers.remove(params.serverId)
      return { success: true, id: params.serverId }
    }),
  ]
}
