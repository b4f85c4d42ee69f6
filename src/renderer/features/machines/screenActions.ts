import { createContext, useContext } from 'react'
import type { Sandbox } from '../../../shared/contract/sandboxes.ts'
import type { TerminalsScreenState } from '../../app/terminals/useTerminalsScreen.ts'
import { notify } from '../../ui/toast.tsx'
import type { SandboxRowActions } from './list/SandboxRow.tsx'

/** What parts of the screen ask of the whole of it. */
export type ScreenActions = SandboxRowActions & {
  /** In a new terminal, which comes into view. */
  run(sandbox: Sandbox, command: string): void
  /** Brings it into view; a new one gets its first terminal. */
  show(sandbox: Sandbox): void
}

export const ScreenActionsContext = createContext<ScreenActions | undefined>(undefined)

export function useScreenActions(): ScreenActions {
  const actions = useContext(ScreenActionsContext)
  if (!actions) throw new Error('useScreenActions needs the terminals screen above it')
  return actions
}

export function screenActions({ sandboxActions, openTerminal, created }: TerminalsScreenState): ScreenActions {
  return {
    ...sandboxActions,
    run(sandbox, command) {
      openTerminal(sandbox, { command }).catch((failure: unknown) =>
        notify.failed(failure, { title: 'No terminal was opened' }),
      )
    },
    show: created,
  }
}
