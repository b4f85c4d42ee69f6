import {
  addModelServer,
  changeModelServer,
  findModelServers,
  listModelServers,
  listProviders,
  readProviderKeysAgain,
  refreshModelServer,
  removeModelServer,
  removeProviderKey,
} from '#shared/contract/providers.ts'
import { type LocalEndpoint, localEndpoint } from '../base/localEndpoint.ts'
import type { OwnModelServers } from './modelServers.ts'
import type { ProviderKeyStore } from './providerKeyStore.ts'
import type { ProviderKeys } from './providerKeys.ts'

type RouteOptions = { keys: ProviderKeys; servers: OwnModelServers; keyStore: Pick<ProviderKeyStore, 'readAgain'> }

export function createProviderRoutes({ keys, servers, keyStore }: RouteOptions): LocalEndpoint[] {
  return [
    localEndpoint(listProviders, () => keys.list()),
    localEndpoint(removeProviderKey, async ({ params }) => {
      await keys.remove(params.family)
      return keys.list()
    }),
    localEndpoint(readProviderKeysAgain, async () => {
      await keyStore.readAgain()
      return keys.list()
    }),
    localEndpoint(listModelServers, () => servers.list()),
    localEndpoint(findModelServers, async () => ({ found: await servers.find() })),
    localEndpoint(addModelServer, ({ body }) =>
      servers.add({ name: body.name, baseUrl: body.base_url, isFree: body.free }),
    ),
    localEndpoint(changeModelServer, ({ params, body }) =>
      servers.change(params.serverId, { isFree: body.free, price: body.price }),
    ),
    localEndpoint(refreshModelServer, ({ params }) => servers.refresh(params.serverId)),
    localEndpoint(removeModelServer, async ({ params }) => {
      await servers.remove(params.serverId)
      return { success: true }
    }),
  ]
}
