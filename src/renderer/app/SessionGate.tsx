import { type ReactNode, useEffect, useState } from 'react'
import { localEventsPath } from '#shared/contract/localApi.ts'
import { AgentProvider } from '../api/AgentProvider.tsx'
import type { Agent } from '../api/agentClient.ts'
import { createLiveEvents, type LiveEvents } from '../api/liveEvents.ts'
import { getSocketOrigin } from '../api/streamUrl.ts'
import { openWindowSocket } from '../api/windowKey.ts'
import { SecurePromptProvider } from '../ui/SecurePromptProvider.tsx'
import { LiveUpdates } from './LiveUpdates.tsx'
import { NoSession } from './NoSession.tsx'
import { isSessionLost } from './sessionLost.ts'
import { useSession } from './useSession.ts'

type SessionGateProps = { agent: Agent; token: string | undefined; children: ReactNode }

/** Opens the person's session and shows the window once there is one. */
export function SessionGate({ agent, token, children }: SessionGateProps) {
  const session = useSession(agent, token)
  if (session.isPending) return <div role="status" aria-busy="true" aria-label="Opening Steward…" />
  if (session.error && (isSessionLost(session.error) || !session.data)) {
    return <NoSession error={session.error} onRetry={() => void session.refetch()} />
  }
  return <LiveWindow agent={agent}>{children}</LiveWindow>
}

function LiveWindow({ agent, children }: Omit<SessionGateProps, 'token'>) {
  const [events, setEvents] = useState<LiveEvents>()
  useEffect(() => {
    const opened = createLiveEvents({
      url: getSocketOrigin(window.location) + localEventsPath,
      openSocket: openWindowSocket,
    })
    setEvents(opened)
    return () => opened.close()
  }, [])
  return (
    <AgentProvider agent={agent} events={events}>
      <LiveUpdates />
      <SecurePromptProvider>{children}</SecurePromptProvider>
    </AgentProvider>
  )
}
