import type { ReactNode } from 'react'
import { CommandProvider } from '../ui/commands/commandRegistry.tsx'
import { Layers } from '../ui/Layers.tsx'
import { TooltipProvider } from '../ui/Tooltip.tsx'
import { Toaster } from '../ui/toast.tsx'

/** Elements around the content of every page. */
export function WindowProviders({ children }: { children: ReactNode }) {
  return (
    <TooltipProvider>
      <CommandProvider>
        <Layers>{children}</Layers>
      </CommandProvider>
      <Toaster />
    </TooltipProvider>
  )
}
