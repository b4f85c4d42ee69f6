import { useQuery } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { listModels } from '#shared/contract/inference.ts'

export const modelsKey = ['settings', 'models'] as const

/** Reads all models with their prices and whether their provider has a key. */
export function useModels() {
  const agent = useAgent()
  return useQuery({
    queryKey: modelsKey,
    queryFn: async ({ signal }) => (await agent(listModels, {}, { signal })).data,
  })
}
