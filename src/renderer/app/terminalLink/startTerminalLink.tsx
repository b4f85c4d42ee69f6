import { QueryClientProvider } from '@tanstack/react-query'
import { AgentProvider } from '../../api/AgentProvider.tsx'
import { createHttpApiClient } from '../../api/agentClient.ts'
import { windowStore } from '../../storage/textStore.ts'
import { takeAddressToken } from '../addressToken.ts'
import { createAppQueryClient } from '../queryClient.ts'
import { renderPage } from '../renderPage.tsx'
import { LinkEnded } from './LinkEnded.tsx'
import { LinkScreen } from './LinkScreen.tsx'
import { readLinkedSandbox, storeToken } from './linkAddress.ts'

/** Renders the page of a terminal link. The service serves this page, and the link's token is its only credential. */
export function startTerminalLink(): void {
  renderPage(() => {
    const sandboxId = readLinkedSandbox(window.location)
    const addressToken = takeAddressToken(window.location, window.history)
    const token = sandboxId && storeToken(windowStore, sandboxId, addressToken)
    if (!sandboxId || !token) return <LinkEnded />
    return (
      <QueryClientProvider client={createAppQueryClient()}>
        <AgentProvider agent={createTokenAgent(token)}>
          <LinkScreen sandboxId={sandboxId} token={token} />
        </AgentProvider>
      </QueryClientProvider>
    )
  })
}

function createTokenAgent(token: string) {
  return createHttpApiClient((path, init) =>
    fetch(path, {
      ...init,
      credentials: 'omit',
      headers: { ...Object.fromEntries(new Headers(init.headers)), authorization: `Bearer ${token}` },
    }),
  )
}
