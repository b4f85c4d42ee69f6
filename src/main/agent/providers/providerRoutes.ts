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
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { ModelServerStore } from './modelServers.ts'
import type { ProviderKeyStore } from './providerKeyStore.ts'
import type { ProviderKeys } from './providerKeys.ts'

type RouteOptions = { keys: ProviderKeys; servers: ModelServerStore; keyStore: Pick<ProviderKeyStore, 'readAgain'> }

export function createProviderRoutes({ keys, servers, keyStore }: RouteOptions): LocalEndpoint[] {
  return [
    createLocalEndpoint(listProviders, () => keys.list()),
    createLocalEndpoint(removeProviderKey, async ({ params }) => {
      await keys.remove(params.family)
      return keys.list()
    }),
    createLocalEndpoint(readProviderKeysAgain, async () => {
      await keyStore.readAgain()
      return keys.list()
    }),
    createLocalEndpoint(listModelServers, () => servers.list()),
    createLocalEndpoint(findModelServers, async () => ({ found: await servers.find() })),
    createLocalEndpoint(addModelServer, ({ body }) =>
      servers.add({ name: body.name, baseUrl: body.base_url, isFree: body.free }),
    ),
    createLocalEndpoint(changeModelServer, ({ params, body }) =>
      servers.change(params.serverId, { isFree: body.free, price: body.price }),
    ),
    createLocalEndpoint(refreshModelServer, ({ params }) => servers.refresh(params.serverId)),
    createLocalEndpoint(removeModelServer, async ({ params }) => {
      await servers.remove(params.serverId)
      return { success: true }
    }),
  ]
}
