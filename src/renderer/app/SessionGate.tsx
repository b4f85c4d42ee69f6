import { useQueryClient } from '@tanstack/react-query'
import { KeyRound, RotateCw } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { localEventsPath } from '#shared/contract/localApi.ts'
import { AgentProvider } from '../api/AgentProvider.tsx'
import type { ApiClient } from '../api/agentClient.ts'
import { createLiveEvents, type LiveEvents, useLiveEvent } from '../api/liveEvents.ts'
import { getSocketOrigin } from '../api/streamUrl.ts'
import { openWindowSocket } from '../api/windowKey.ts'
import { Button } from '../ui/Button.tsx'
import { CopyLine } from '../ui/CopyLine.tsx'
import { EmptyState } from '../ui/EmptyState.tsx'
import { ErrorNotice } from '../ui/ErrorNotice.tsx'
import { goTo } from '../ui/route.ts'
import { SecurePromptProvider } from '../ui/SecurePromptProvider.tsx'
import { createCacheUpdater } from './cacheUpdater.ts'
import { isSessionLost } from './sessionLost.ts'
import { useSession } from './useSession.ts'

type SessionGateProps = { agent: ApiClient; token: string | undefined; children: ReactNode }

/** Opens the user's session and renders the window once it is open. */
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

/** Updates cached data of all sections from events, and opens the target of a notification. */
function LiveUpdates() {
  const queryClient = useQueryClient()
  const [updater] = useState(() => createCacheUpdater(queryClient))
  useEffect(() => updater.close, [updater])
  useLiveEvent((event) => {
    updater.apply(event)
    if (event.type === 'intent.show') goTo('approvals', event.intent_id)
  })
  return null
}

/** Explains how to open a session, or shows the error that prevented it. */
function NoSession({ error, onRetry }: { error: Error; onRetry: () => void }) {
  return (
    <main className="h-full">
      <h1 className="sr-only">Steward</h1>
      {isSessionLost(error) ? (
        <EmptyState
          icon={KeyRound}
          title="You’re signed out"
          description="Steward was restarted, or this link was already used."
          actions={
            <Button icon={RotateCw} onClick={onRetry}>
              Try again
            </Button>
          }
        >
          <h3 className="font-medium text-text">To sign in again</h3>
          <p className="mt-0.5 mb-2">
            Start Steward in its folder and open the address it prints. Sandboxes keep running.
          </p>
          <CopyLine text="npm start" label="Copy command" />
        </EmptyState>
      ) : (
        <div className="mx-auto flex h-full max-w-120 flex-col justify-center p-6">
          <ErrorNotice error={error} onRetry={onRetry} />
        </div>
      )}
    </main>
  )
}
