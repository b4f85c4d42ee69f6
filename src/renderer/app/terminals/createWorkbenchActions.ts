import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { withListedTabs, withTerminalSelected } from '../../features/terminals/selection/selection.ts'
import { shellCommand } from '../../features/terminals/sessions/useTerminalActions.ts'
import type { WorkbenchActions } from '../../features/terminals/sessions/workbenchActions.ts'
import type { TerminalsScreenState } from './useTerminalsScreen.ts'

/** Returns the actions on the terminals of one sandbox. */
export function createWorkbenchActions(
  { selection, layouts, terminals, dialogs, focus, lifecycle }: TerminalsScreenState,
  sandbox: Sandbox,
): WorkbenchActions {
  return {
    select(terminal) {
      selection.change((prev) => withTerminalSelected(prev, terminal.sandbox_id, terminal.session_id))
    },
    close: (leaving, layout) => void terminals.close(leaving, layout),
    again: (terminal, arrange) => void terminals.runAgain(terminal, arrange),
    async allAgain(ended, replaced) {
      for (const terminal of ended) {
        await terminals.runAgain(terminal, (layout, added) => replaced(layout, terminal.session_id, added))
      }
    },
    newTerminal: (arrange, directory) =>
      void terminals.tryOpen(sandbox, { command: shellCommand, ...(arrange && { arrange }), ...directory }),
    arrange: (change) => layouts.change(sandbox.id, change),
    rename: (terminal, name) => void terminals.rename(terminal, name),
    keepClosed: (listedIds) => selection.change((prev) => withListedTabs(prev, sandbox.id, listedIds)),
    askForCommand: () => dialogs.open({ kind: 'run', sandbox }),
    startSandbox: () => lifecycle.start(sandbox),
    askToDeleteSandbox: () => dialogs.open({ kind: 'delete', sandbox }),
    focus: focus.request,
    retitle: terminals.retitle,
  }
}
