import type { SandboxList } from '../../api/sandboxes/sandboxList.ts'
import { useSandboxes } from '../../api/sandboxes/useSandboxes.ts'
import { useSandboxActions } from '../../features/sandboxes/useSandboxActions.ts'
import { type Layouts, useLayouts } from '../../features/terminals/layout/useLayouts.ts'
import { createSandboxLifecycle, type SandboxLifecycle } from './sandboxLifecycle.ts'
import { type SandboxSelection, useSandboxSelection } from './useSandboxSelection.ts'
import { type ScreenDialogs, useScreenDialogs } from './useScreenDialogs.ts'
import { type ScreenTerminals, useScreenTerminals } from './useScreenTerminals.ts'
import { type TerminalFocus, useTerminalFocus } from './useTerminalFocus.ts'

export type TerminalsScreenState = {
  /** Not set until first read. */
  sandboxes: SandboxList | undefined
  selection: SandboxSelection
  layouts: Layouts
  terminals: ScreenTerminals
  dialogs: ScreenDialogs
  focus: TerminalFocus
  lifecycle: SandboxLifecycle
}

export function useTerminalsScreen(): TerminalsScreenState {
  const { data: sandboxes } = useSandboxes()
  const actions = useSandboxActions()
  const layouts = useLayouts()
  const focus = useTerminalFocus()
  const dialogs = useScreenDialogs(actions.stop)
  const selection = useSandboxSelection({ sandboxes, layouts, focus })
  const terminals = useScreenTerminals({ layouts, changeSelection: selection.change, focus })
  const lifecycle = createSandboxLifecycle({ actions, selection, terminals, dialogs })
  return { sandboxes, selection, layouts, terminals, dialogs, focus, lifecycle }
}
