import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { z } from 'zod'
import { httpAgent } from '../agent/agentClient.ts'
import { App } from './App.tsx'
import { takeAddressToken } from './addressToken.ts'
import { CrashBoundary } from './CrashBoundary.tsx'
import { appQueryClient } from './queryClient.ts'
import { SessionGate } from './SessionGate.tsx'
import { WindowParts } from './WindowParts.tsx'

export function startApp(): void {
  z.config({ jitless: true }) // the page's Content-Security-Policy has no `unsafe-eval`
  const root = document.getElementById('steward')
  if (!root) throw new Error('index.html has no #steward')
  const token = takeAddressToken(window.location, window.history)
  const agent = httpAgent((path, init) => fetch(path, init))
  createRoot(root).render(
    <CrashBoundary>
      <QueryClientProvider client={appQueryClient()}>
        <WindowParts>
          <SessionGate agent={agent} token={token}>
            <App />
          </SessionGate>
        </WindowParts>
      </QueryClientProvider>
    </CrashBoundary>,
  )
}
