import { QueryClientProvider } from '@tanstack/react-query'
import { httpAgent } from '../api/agentClient.ts'
import { windowFetch } from '../api/windowKey.ts'
import { TerminalCallsHost } from '../features/terminals/calls/TerminalCallsHost.tsx'
import { UnsavedGuard } from '../ui/unsaved/UnsavedGuard.tsx'
import { App } from './App.tsx'
import { takeAddressToken } from './addressToken.ts'
import { drawPage } from './drawPage.tsx'
import { noticeUnreadable } from './noticeUnreadable.ts'
import { appQueryClient } from './queryClient.ts'
import { SessionGate } from './SessionGate.tsx'

export function startApp(): void {
  drawPage(() => {
    const token = takeAddressToken(window.location, window.history)
    const agent = httpAgent(windowFetch, noticeUnreadable())
    return (
      <QueryClientProvider client={appQueryClient()}>
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
