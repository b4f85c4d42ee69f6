import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useAgent, useConnection } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import { notify } from '#renderer/ui/toast.tsx'
import { type AccountRequest, decideAccountRequest, listAccountRequests } from '#shared/contract/accountRequests.ts'

export const requestsKey = ['approvals', 'account-requests'] as const

/** Returns account requests of wallets, pending ones first. Only the service on this computer has such requests. */
export function useAccountRequests(): readonly AccountRequest[] {
  const agent = useAgent()
  const isOwn = useConnection()?.kind === 'embedded'
  const { data } = useQuery({
    queryKey: requestsKey,
    queryFn: async ({ signal }) => (await agent(listAccountRequests, {}, { signal })).requests,
    enabled: isOwn,
  })
  return data ?? []
}

export function useWaitingAccountRequests(): readonly AccountRequest[] {
  return useAccountRequests().filter(({ state }) => state === 'waiting')
}

/** Returns actions that allow or deny a wallet. A denied wallet can be allowed later. */
export function useAccountDecision({ id }: AccountRequest) {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const [busy, setBusy] = useState<'allow' | 'deny'>()
  return {
    busy,
    async decide(deed: 'allow' | 'deny'): Promise<void> {
      setBusy(deed)
      try {
        await agent(decideAccountRequest, { id, allow: deed === 'allow' })
        await readAgain(queryClient, requestsKey)
      } catch (error) {
        notify.failed(error)
      } finally {
        setBusy(undefined)
      }
    },
  }
}
