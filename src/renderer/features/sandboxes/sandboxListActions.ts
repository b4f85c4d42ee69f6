import { createContext, useContext } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import type { SandboxRowActions } from './list/SandboxRow.tsx'

/** Actions that a sandbox's panels require of their screen. */
export type SandboxListActions = SandboxRowActions & {
  /** Runs a command in a new terminal and shows it. */
  run(sandbox: Sandbox, command: string): void
}

export const SandboxListActionsContext = createContext<SandboxListActions | undefined>(undefined)

export function useSandboxListActions(): SandboxListActions {
  const actions = useContext(SandboxListActionsContext)
  if (!actions) throw new Error('useSandboxListActions must be used within a SandboxListActionsContext')
  return actions
}
