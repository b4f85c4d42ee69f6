import { createContext, useContext } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import type { SandboxRowActions } from './list/SandboxRow.tsx'

/** Actions that a sandbox's panels require of their screen. */
export type MachineActions = SandboxRowActions & {
  /** In a new terminal, which comes into view. */
  run(sandbox: Sandbox, command: string): void
}

export const MachineActionsContext = createContext<MachineActions | undefined>(undefined)

export function useMachineActions(): MachineActions {
  const actions = useContext(MachineActionsContext)
  if (!actions) throw new Error('useMachineActions needs a MachineActionsContext above it')
  return actions
}
