import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { useLiveEvent } from '#renderer/api/liveEvents.ts'
import { readAgain } from '#renderer/api/readAgain.ts'
import { listModels } from '#shared/contract/inference.ts'

export const modelsKey = ['settings', 'models'] as const

/** Reads all models with their prices and whether their provider has a key. */
export function useModels() {
  const agent = useAgent()
  const queryClient = useQueryClient()
  useLiveEvent(({ type }) => {
    if (type === 'ready' || type === 'models.changed') void readAgain(queryClient, modelsKey)
  })
  return useQuery({
    queryKey: modelsKey,
    queryFn: async ({ signal }) => (await agent(listModels, {}, { signal })).data,
  })
}
