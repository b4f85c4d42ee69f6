import { type QueryClient, useQuery } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext } from 'react'
import { getLocalStatus, type LocalEventOf, type ServiceConnection } from '#shared/contract/localApi.ts'
import type { Output } from '#shared/contract/route.ts'
import type { ApiClient } from './agentClient.ts'
import { type LiveEvents, LiveEventsContext, useLinkState } from './liveEvents.ts'
import { patchAndRefetch } from './readAgain.ts'

const AgentContext = createContext<ApiClient | undefined>(undefined)

type AgentProviderProps = {
  agent: ApiClient
  /** Omitted on pages that receive no events, such as a terminal link. */
  events?: LiveEvents | undefined
  children: ReactNode
}

export function AgentProvider({ agent, events, children }: AgentProviderProps) {
  return (
    <AgentContext value={agent}>
      <LiveEventsContext value={events}>{children}</LiveEventsContext>
    </AgentContext>
  )
}

export function useAgent(): ApiClient {
  const agent = useContext(AgentContext)
  if (!agent) throw new Error('useAgent must be used within an AgentProvider')
  return agent
}

export type LocalStatus = Output<typeof getLocalStatus>
const statusWhileLostMs = 2000
export const statusKey = ['local', 'status'] as const

export function useLocalStatus(): LocalStatus | undefined {
  const agent = useAgent()
  const isLost = useLinkState() === 'lost'
  return useQuery({
    queryKey: statusKey,
    queryFn: ({ signal }) => agent(getLocalStatus, {}, { signal }),
    // Polls while disconnected, because no events arrive. This also detects an ended session.
    refetchInterval: isLost && statusWhileLostMs,
  }).data
}

/**
 * Returns the state of the service connection.
 * @returns undefined until the agent has reported it, and on pages without events
 */
export function useConnection(): ServiceConnection | undefined {
  const connection = useLocalStatus()?.connection
  const link = useLinkState()
  if (!connection || link === undefined) return undefined
  if (link !== 'lost') return connection
  return { ...connection, state: 'unreachable', detail: 'Steward isn’t responding.' }
}

export function patchConnection(queryClient: QueryClient, { connection }: LocalEventOf<'connection.changed'>): void {
  void patchAndRefetch<LocalStatus>(queryClient, statusKey, (status) => ({ ...status, connection }))
}
