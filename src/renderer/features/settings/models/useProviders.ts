import { useQuery } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import type { FamilyId } from '#shared/contract/families.ts'
import {
  addModelServer,
  changeModelServer,
  findModelServers,
  listModelServers,
  listProviders,
  type ModelServerId,
  readProviderKeysAgain,
  refreshModelServer,
  removeModelServer,
  removeProviderKey,
  testProvider,
} from '#shared/contract/providers.ts'
import type { Input } from '#shared/contract/route.ts'

export const providersKey = ['settings', 'providers'] as const
export const modelServersKey = ['settings', 'model-servers'] as const

/** Reads the model providers and whether each has a key. The keys are never sent to this window. */
export function useProviders() {
  const agent = useAgent()
  return useQuery({
    queryKey: providersKey,
    queryFn: ({ signal }) => agent(listProviders, {}, { signal }),
  })
}

export function useModelServers() {
  const agent = useAgent()
  return useQuery({
    queryKey: modelServersKey,
    queryFn: ({ signal }) => agent(listModelServers, {}, { signal }),
  })
}

/** Returns actions on providers and servers. Results arrive through events. */
export function useProviderActions() {
  const agent = useAgent()
  return {
    test: (family: FamilyId) => agent(testProvider, { family }),
    remove: (family: FamilyId) => agent(removeProviderKey, { family }),
    readAgain: () => agent(readProviderKeysAgain, {}),
    find: async () => (await agent(findModelServers, {})).found,
    addServer: (server: { name: string; base_url: string; free?: boolean }) => agent(addModelServer, server),
    changeServer: (serverId: ModelServerId, changes: Omit<Input<typeof changeModelServer>, 'serverId'>) =>
      agent(changeModelServer, { serverId, ...changes }),
    refreshServer: (serverId: ModelServerId) => agent(refreshModelServer, { serverId }),
    removeServer: (serverId: ModelServerId) => agent(removeModelServer, { serverId }),
  }
}
