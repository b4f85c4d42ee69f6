import { useState } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import type { TerminalMatch } from '#shared/contract/terminalSearch.ts'
import type { SandboxList } from '../../api/sandboxes/sandboxList.ts'
import { useSandboxes } from '../../api/sandboxes/useSandboxes.ts'
import type { SandboxRowActions } from '../../features/sandboxes/list/SandboxRow.tsx'
import { useSandboxActions } from '../../features/sandboxes/useSandboxActions.ts'
import type { Layout } from '../../features/terminals/layout/tabLayout.ts'
import { type Layouts, useLayouts } from '../../features/terminals/layout/useLayouts.ts'
import {
  findNeighbor,
  type Selection,
  withListedTabs,
  withSandboxForgotten,
  withSandboxSelected,
  withTabOpen,
  withTerminalSelected,
} from '../../features/terminals/selection/selection.ts'
import type { ChangeSelection } from '../../features/terminals/selection/useSelection.ts'
import { type NewTerminal, shellCommand } from '../../features/terminals/sessions/useTerminalActions.ts'
import type { WorkbenchActions } from '../../features/terminals/sessions/workbenchActions.ts'
import type { TerminalSize } from '../../features/terminals/stream/terminalScreen.ts'
import { copyId } from '../../ui/copyId.ts'
import { goTo } from '../../ui/route.ts'
import { notify } from '../../ui/toast.tsx'
import type { PortRequest } from './useSandboxLinks.ts'
import { useSandboxSelection } from './useSandboxSelection.ts'
import { type ScreenDialog, type ScreenDialogState, useScreenDialog } from './useScreenDialog.ts'
import { type ScreenTerminals, useScreenTerminals } from './useScreenTerminals.ts'

export type TerminalsScreenState = {
  /** Not set until first read. */
  sandboxes: SandboxList | undefined
  /** The sandbox in view. */
  present: Sandbox | undefined
  selection: Selection
  layoutOf(sandbox: Sandbox): Layout
  /** Whether a terminal is being opened here. Its position is then decided by the caller, not the list. */
  creating: boolean
  dialog: ScreenDialog | undefined
  wantsFocus: boolean
  onFocused(): void
  focusTerminal(): void
  learnRoom(size: TerminalSize): void
  open(sandbox: Sandbox): void
  askForSandbox(): void
  askForImages(): void
  askForSearch(): void
  openMatch(match: TerminalMatch): void
  showTerminal(sandbox: Sandbox, terminalId: string): void
  /** Latest argument of `openMatch`. */
  reveal: TerminalMatch | undefined
  askForSnapshot(sandbox: Sandbox): void
  askToExpose(sandbox: Sandbox, request: PortRequest): void
  /** Asks for confirmation even if no program is running. */
  askToStop(sandbox: Sandbox): void
  closeDialog(): void
  create: ReturnType<typeof useSandboxActions>['create']
  created(sandbox: Sandbox): void
  stop(sandbox: Sandbox): Promise<void>
  remove(sandbox: Sandbox): Promise<void>
  openTerminal(sandbox: Sandbox, terminal: NewTerminal): Promise<void>
  workbenchActions(sandbox: Sandbox): WorkbenchActions
  sandboxActions: SandboxRowActions
}

export function useTerminalsScreen(): TerminalsScreenState {
  const { data: sandboxes } = useSandboxes()
  const { create, start, stop, remove } = useSandboxActions()
  const layouts = useLayouts()
  const dialogs = useScreenDialog(stop)
  const { dialog, openDialog, closeDialog, askToStop } = dialogs
  const [reveal, setReveal] = useState<TerminalMatch>()
  const [wantsFocus, setWantsFocus] = useState(true)
  const focusTerminal = () => setWantsFocus(true)
  const { selection, changeSelection, present, open } = useSandboxSelection({ sandboxes, layouts, focusTerminal })
  const terminals = useScreenTerminals({ layouts, changeSelection, focusTerminal })

  const startSandbox = async (sandbox: Sandbox) => {
    const started = await start(sandbox)
    if (started) terminals.openFirst(started)
  }
  const context: ActionContext = {
    layouts,
    changeSelection,
    terminals,
    dialogs,
    open,
    startSandbox: (sandbox) => void startSandbox(sandbox),
    focusTerminal,
  }

  return {
    sandboxes,
    present,
    selection,
    layoutOf: ({ id }) => layouts.layoutOf(id),
    creating: terminals.creating,
    dialog,
    wantsFocus,
    onFocused: () => setWantsFocus(false),
    focusTerminal,
    learnRoom: terminals.learnRoom,
    open,
    askForSandbox: () => openDialog({ kind: 'create' }),
    askForImages: () => openDialog({ kind: 'images' }),
    askForSnapshot: (sandbox) => openDialog({ kind: 'snapshot', sandbox }),
    askToExpose: (sandbox, request) => openDialog({ kind: 'expose', sandbox, request }),
    askToStop,
    askForSearch: () => openDialog({ kind: 'search' }),
    reveal,
    showTerminal({ id }, terminalId) {
      changeSelection((before) => withTerminalSelected(withTabOpen(before, id, terminalId), id, terminalId))
      focusTerminal()
    },
    openMatch(match) {
      closeDialog()
      changeSelection((before) => withMatchSelected(before, match))
      goTo('terminals', match.sandbox_id)
      setReveal(match)
      focusTerminal()
    },
    closeDialog,
    create,
    created(sandbox) {
      closeDialog()
      open(sandbox)
      terminals.openFirst(sandbox)
    },
    stop,
    async remove(sandbox) {
      await remove(sandbox)
      changeSelection((before) => withSandboxRemoved(before, sandbox, sandboxes ?? []))
      notify.done(`Deleted ${sandbox.name}`)
    },
    openTerminal: terminals.open,
    workbenchActions: (sandbox) => createWorkbenchActions(context, sandbox),
    sandboxActions: createSandboxActions(context),
  }
}

type ActionContext = {
  layouts: Layouts
  changeSelection: ChangeSelection
  terminals: ScreenTerminals
  dialogs: ScreenDialogState
  open(sandbox: Sandbox): void
  startSandbox(sandbox: Sandbox): void
  focusTerminal(): void
}

function createWorkbenchActions(context: ActionContext, sandbox: Sandbox): WorkbenchActions {
  const { layouts, changeSelection, terminals, dialogs } = context
  return {
    select(terminal) {
      changeSelection((before) => withTerminalSelected(before, terminal.sandbox_id, terminal.session_id))
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
    keepClosed: (listedIds) => changeSelection((before) => withListedTabs(before, sandbox.id, listedIds)),
    askForCommand: () => dialogs.openDialog({ kind: 'run', sandbox }),
    startSandbox: () => context.startSandbox(sandbox),
    askToDeleteSandbox: () => dialogs.openDialog({ kind: 'delete', sandbox }),
    focus: context.focusTerminal,
    retitle: terminals.retitle,
  }
}

function createSandboxActions({ open, terminals, dialogs, startSandbox }: ActionContext): SandboxRowActions {
  return {
    newTerminal(sandbox) {
      open(sandbox)
      void terminals.tryOpen(sandbox, { command: shellCommand })
    },
    start: startSandbox,
    stop: dialogs.stopUnlessBusy,
    copyId: ({ id }) => void copyId(id, 'sandbox'),
    askToRename: (sandbox) => dialogs.openDialog({ kind: 'rename', sandbox }),
    askToDelete: (sandbox) => dialogs.openDialog({ kind: 'delete', sandbox }),
  }
}

function withMatchSelected(selection: Selection, { sandbox_id, session_id }: TerminalMatch): Selection {
  return withTerminalSelected(
    withSandboxSelected(withTabOpen(selection, sandbox_id, session_id), sandbox_id),
    sandbox_id,
    session_id,
  )
}

/** Removes a sandbox from the selection. Selects a neighbor if it was in view. */
function withSandboxRemoved(selection: Selection, { id }: Sandbox, sandboxes: SandboxList): Selection {
  const next = findNeighbor(
    sandboxes.map((sandbox) => sandbox.id),
    id,
  )
  const after = withSandboxForgotten(selection, id)
  return after.sandboxId === null && next !== undefined ? withSandboxSelected(after, next) : after
}
