import { useQuery } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { isChatModel, type ListedModel, listModels } from '#shared/contract/inference.ts'
import { chatKeys } from './keys.ts'

/** Reads the service's chat models with their prices and availability. */
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
