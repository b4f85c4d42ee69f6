import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import type { Input, Output } from '#shared/contract/route.ts'
import { changeToolClient, createToolClient, listToolClients, revokeToolClient } from '#shared/contract/toolClients.ts'

export const clientsKey = ['settings', 'tool-clients'] as const

export type ToolClientList = Output<typeof listToolClients>

export function useToolClients() {
  const agent = useAgent()
  return useQuery({
    queryKey: clientsKey,
    queryFn: ({ signal }) => agent(listToolClients, {}, { signal }),
    staleTime: 0, // no event reports the last use of a client or its spending
  })
}

export function useToolClientActions() {
  const agent = useAgent()
  const queryClient = useQueryClient()
  return {
    /**
     * Creates a tool client. The response is the only one that contains the key, so it is returned to the caller and
     * not cached.
     */
    async create(input: Input<typeof createToolClient>): Promise<Output<typeof createToolClient>> {
      const created = await agent(createToolClient, input)
      void readAgain(queryClient, clientsKey)
      return created
    },
    async change(input: Input<typeof changeToolClient>): Promise<void> {
      await agent(changeToolClient, input)
      await readAgain(queryClient, clientsKey)
    },
    async revoke(id: string): Promise<void> {
      await agent(revokeToolClient, { clientId: id })
      await readAgain(queryClient, clientsKey)
    },
  }
}
