import type { ReactNode } from 'react'
import { CommandProvider } from '../ui/commands/commandRegistry.tsx'
import { TooltipProvider } from '../ui/Tooltip.tsx'
import { Toaster } from '../ui/toast.tsx'

/** What every page needs around its content. */
export function WindowParts({ children }: { children: ReactNode }) {
  return (
    <TooltipProvider>
      <CommandProvider>{children}</CommandProvider>
      <Toaster />
    </TooltipProvider>
  )
}
