import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { z } from 'zod'
import { AgentProvider } from '../../agent/AgentProvider.tsx'
import { httpAgent } from '../../agent/agentClient.ts'
import { takeAddressToken } from '../addressToken.ts'
import { CrashBoundary } from '../CrashBoundary.tsx'
import { appQueryClient } from '../queryClient.ts'
import { WindowParts } from '../WindowParts.tsx'
import { LinkEnded } from './LinkEnded.tsx'
import { LinkScreen } from './LinkScreen.tsx'
import { keptToken, linkedSandbox } from './linkAddress.ts'

/** The page behind a terminal link. The service itself serves it: its only key is the link's token. */
export function startTerminalLink(): void {
  z.config({ jitless: true }) // the page's Content-Security-Policy has no `unsafe-eval`
  const root = document.getElementById('steward')
  if (!root) throw new Error('terminal.html has no #steward')
  const sandboxId = linkedSandbox(window.location)
  const given = takeAddressToken(window.location, window.history)
  const token = sandboxId && keptToken(window.sessionStorage, sandboxId, given)
  createRoot(root).render(
    <CrashBoundary>
      <WindowParts>
        {sandboxId && token ? (
          <QueryClientProvider client={appQueryClient()}>
            <AgentProvider agent={agentWith(token)}>
              <LinkScreen sandboxId={sandboxId} token={token} />
            </AgentProvider>
          </QueryClientProvider>
        ) : (
          <LinkEnded />
        )}
      </WindowParts>
    </CrashBoundary>,
  )
}

function agentWith(token: string) {
  return httpAgent((path, init) =>
    fetch(path, {
      ...init,
      credentials: 'omit',
      headers: { ...Object.fromEntries(new Headers(init.headers)), authorization: `Bearer ${token}` },
    }),
  )
}
