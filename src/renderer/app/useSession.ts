import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getLocalStatus, openSession } from '#shared/contract/localApi.ts'
import { type LocalStatus, statusKey } from '../api/AgentProvider.tsx'
import type { ApiClient } from '../api/agentClient.ts'
import { saveWindowKey } from '../api/windowKey.ts'
import { isSessionLost } from './sessionLost.ts'

export const sessionKey = ['session'] as const

/** Exchanges the start token, if present, for a session, and verifies the session. */
export function useSession(agent: ApiClient, token: string | undefined) {
  const queryClient = useQueryClient()
  return useQuery({
    queryKey: sessionKey,
    queryFn: async ({ signal }) => {
      // A token is single-use. If it is rejected, an older session of this browser may still be valid.
      const refusal = token === undefined ? undefined : await exchangeToken(agent, token)
      try {
        const status = await agent(getLocalStatus, {}, { signal })
        queryClient.setQueryData<LocalStatus>(statusKey, status) // avoids another request by the window
        return status
      } catch (error) {
        throw isSessionLost(error) && refusal ? refusal : error
      }
    },
  })
}

async function exchangeToken(agent: ApiClient, token: string): Promise<unknown> {
  try {
    const { window_key } = await agent(openSession, { token })
    saveWindowKey(window_key)
    return undefined
  } catch (error) {
    if (isSessionLost(error)) return error
    throw error
  }
}
