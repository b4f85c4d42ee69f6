import { QueryClientProvider } from '@tanstack/react-query'
import { createHttpAgent } from '../api/agentClient.ts'
import { fetchAsWindow } from '../api/windowKey.ts'
import { TerminalCallsHost } from '../features/terminals/calls/TerminalCallsHost.tsx'
import { UnsavedGuard } from '../ui/unsaved/UnsavedGuard.tsx'
import { App } from './App.tsx'
import { takeAddressToken } from './addressToken.ts'
import { drawPage } from './drawPage.tsx'
import { noticeUnreadable } from './noticeUnreadable.ts'
import { createAppQueryClient } from './queryClient.ts'
import { SessionGate } from './SessionGate.tsx'

export function startApp(): void {
  drawPage(() => {
    const token = takeAddressToken(window.location, window.history)
    const agent = createHttpAgent(fetchAsWindow, noticeUnreadable())
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
