import { useQuery } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { isChatModel, type ListedModel, listModels } from '#shared/contract/inference.ts'
import { chatKeys } from './keys.ts'

/** The models of the service that answer conversations, with prices and whether there is a key for them. */
export function useModels() {
  const agent = useAgent()
  return useQuery({
    queryKey: chatKeys.models,
    queryFn: async ({ signal }): Promise<readonly ListedModel[]> =>
      (await agent(listModels, {}, { signal })).data.filter(isChatModel),
    staleTime: 30_000,
    refetchOnMount: true,
    refetchOnWindowFocus: true,
  })
}
