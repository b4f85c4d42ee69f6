import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import { type ApiKey, createApiKey, listApiKeys, revokeApiKey } from '#shared/contract/accounts.ts'
import type { Input } from '#shared/contract/route.ts'

export const keysKey = ['settings', 'api-keys'] as const

export function useApiKeys() {
  const agent = useAgent()
  return useQuery({
    queryKey: keysKey,
    queryFn: async ({ signal }) => (await agent(listApiKeys, {}, { signal })).api_keys.toSorted(compareNewestFirst),
    staleTime: 0, // no event reports the last use of a key
  })
}

export function useApiKeyActions() {
  const agent = useAgent()
  const queryClient = useQueryClient()
  return {
    /**
     * Creates an API key. The response is the only one that contains the key, so it is returned to the caller and not
     * cached.
     */
    async create(input: Input<typeof createApiKey>): Promise<string> {
      const { key } = await agent(createApiKey, input)
      void readAgain(queryClient, keysKey)
      return key
    },
    async revoke(id: string): Promise<void> {
      await agent(revokeApiKey, { keyId: id })
      await readAgain(queryClient, keysKey)
    },
  }
}

function compareNewestFirst(a: ApiKey, b: ApiKey): number {
  return b.created_at.localeCompare(a.created_at)
}
