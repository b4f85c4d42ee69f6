import { QueryClientProvider } from '@tanstack/react-query'
import { createHttpApiClient } from '../api/agentClient.ts'
import { fetchAsWindow } from '../api/windowKey.ts'
import { TerminalCallsHost } from '../features/terminals/calls/TerminalCallsHost.tsx'
import { notify } from '../ui/toast.tsx'
import { UnsavedGuard } from '../ui/unsaved/UnsavedGuard.tsx'
import { App } from './App.tsx'
import { takeAddressToken } from './addressToken.ts'
import { createAppQueryClient } from './queryClient.ts'
import { renderPage } from './renderPage.tsx'
import { SessionGate } from './SessionGate.tsx'

export function startApp(): void {
  renderPage(() => {
    const token = takeAddressToken(window.location, window.history)
    const agent = createHttpApiClient(fetchAsWindow, createUnreadableNotice())
    return (
      <QueryClientProvider client={createAppQueryClient()}>
        <SessionGate agent={agent} token={token}>
          <UnsavedGuard>
            <TerminalCallsHost>
              <App />
            </TerminalCallsHost>
          </UnsavedGuard>
        </SessionGate>
      </QueryClientProvider>
    )
  })
}

/** Returns a listener that reports once per page that list entries could not be read. */
function createUnreadableNotice(): (count: number) => void {
  let isVisible = false
  return (count) => {
    if (isVisible) return
    isVisible = true
    notify.asked(count === 1 ? 'One entry can’t be shown' : `${count} entries can’t be shown`, {
      hint: `Another version of Steward wrote ${count === 1 ? 'it' : 'them'}. Update Steward, then reload.`,
    })
  }
}
