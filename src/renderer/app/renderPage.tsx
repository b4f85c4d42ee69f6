import type { ReactNode } from 'react'
import { createRoot } from 'react-dom/client'
import { z } from 'zod'
import { CommandProvider } from '../ui/commands/commandRegistry.tsx'
import { Layers } from '../ui/Layers.tsx'
import { TooltipProvider } from '../ui/Tooltip.tsx'
import { Toaster } from '../ui/toast.tsx'
import { CrashBoundary } from './CrashBoundary.tsx'

/** Renders a page. Calls `content` once the page is ready. */
export function renderPage(content: () => ReactNode): void {
  z.config({ jitless: true }) // the page's Content-Security-Policy has no `unsafe-eval`
  const root = document.getElementById('steward')
  if (!root) throw new Error('The page has no #steward element')
  createRoot(root).render(
    <CrashBoundary>
      <WindowProviders>{content()}</WindowProviders>
    </CrashBoundary>,
  )
}

function WindowProviders({ children }: { children: ReactNode }) {
  return (
    <TooltipProvider>
      <CommandProvider>
        <Layers>{children}</Layers>
      </CommandProvider>
      <Toaster />
    </TooltipProvider>
  )
}
