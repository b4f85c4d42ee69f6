import { useRef, useState } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import type { Terminal } from '#shared/contract/terminals.ts'
import type { SandboxId } from '#shared/ids.ts'
import { useLiveEvent } from '../../api/liveEvents.ts'
import { findNextTerminal, type Layout } from '../../features/terminals/layout/tabLayout.ts'
import type { Layouts } from '../../features/terminals/layout/useLayouts.ts'
import { withTabClosed, withTerminalSelected } from '../../features/terminals/selection/selection.ts'
import type { ChangeSelection } from '../../features/terminals/selection/useSelection.ts'
import {
  type NewTerminal,
  shellCommand,
  type TerminalActions,
  useTerminalActions,
} from '../../features/terminals/sessions/useTerminalActions.ts'
import type { Arrange } from '../../features/terminals/sessions/workbenchActions.ts'
import type { TerminalSize } from '../../features/terminals/stream/terminalScreen.ts'
import { notify } from '../../ui/toast.tsx'
import type { TerminalFocus } from './useTerminalFocus.ts'

type PlacedTerminal = NewTerminal & { arrange?: Arrange }

type ScreenTerminalsOptions = {
  layouts: Layouts
  changeSelection: ChangeSelection
  focus: TerminalFocus
}

export type ScreenTerminals = Pick<TerminalActions, 'rename' | 'retitle'> & {
  /** Whether a terminal is being opened here. Its position is then decided by the caller, not the list. */
  creating: boolean
  learnRoom(size: TerminalSize): void
  /** Opens a terminal. @throws the error of the request, for the caller to report */
  open(sandbox: Pick<Sandbox, 'id'>, terminal: PlacedTerminal): Promise<void>
  /**
   * Opens a terminal and reports errors. Retries in the default folder if `cwd` cannot be used.
   * @returns whether the terminal was opened
   */
  tryOpen(sandbox: Pick<Sandbox, 'id'>, terminal: PlacedTerminal): Promise<boolean>
  /** Opens the first terminal of a sandbox that was created or started in this window, once the sandbox is running. */
  openFirst(sandbox: Sandbox): void
  /** Closes terminals and selects the next one in the layout. */
  close(leaving: readonly Terminal[], layout: Layout): Promise<void>
  /** Runs the command of an ended terminal again in a new terminal that replaces it. */
  runAgain(terminal: Terminal, arrange: Arrange): Promise<void>
}

export function useScreenTerminals(options: ScreenTerminalsOptions): ScreenTerminals {
  const { layouts, changeSelection, focus } = options
  const terminals = useTerminalActions()
  const [creations, setCreations] = useState(0)
  const room = useRef<TerminalSize>(undefined)
  // Sandboxes created or started here that are not running yet. Each gets its first terminal once it is running.
  const awaited = useRef(new Set<SandboxId>())
  const closing = useRef(new Set<string>())

  const open = async (sandbox: Pick<Sandbox, 'id'>, { arrange, ...terminal }: PlacedTerminal) => {
    setCreations((count) => count + 1)
    const { session_id } = await terminals
      .create(sandbox.id, { size: room.current, ...terminal })
      .finally(() => setCreations((count) => count - 1))
    if (arrange) layouts.change(sandbox.id, (layout) => arrange(layout, session_id))
    changeSelection((before) => withTerminalSelected(before, sandbox.id, session_id))
    focus.request()
  }

  const tryOpen = async (sandbox: Pick<Sandbox, 'id'>, terminal: PlacedTerminal): Promise<boolean> => {
    const { cwd, ...anywhere } = terminal
    try {
      await open(sandbox, terminal)
      return true
    } catch (error) {
      // The folder may have been deleted, or belong to another sandbox.
      if (cwd !== undefined) return tryOpen(sandbox, anywhere)
      notify.failed(error, { title: 'Could not open a terminal' })
      return false
    }
  }

  const openFirst = (sandbox: Sandbox) => {
    if (sandbox.status === 'provisioning') awaited.current.add(sandbox.id)
    else if (sandbox.status === 'running') void tryOpen(sandbox, { command: shellCommand })
  }
  useLiveEvent((event) => {
    if (event.type !== 'sandbox.changed' || event.sandbox.status === 'provisioning') return
    if (awaited.current.delete(event.sandbox.id)) openFirst(event.sandbox)
  })

  const close = async (terminal: Terminal, layout: Layout) => {
    const { session_id, sandbox_id } = terminal
    if (closing.current.has(session_id)) return
    closing.current.add(session_id)
    const closed = await terminals.close(terminal)
    closing.current.delete(session_id)
    if (!closed) return
    changeSelection((before) => {
      const after = withTabClosed(before, sandbox_id, session_id)
      if ((before.terminals[sandbox_id] ?? layout[0]?.active) !== session_id) return after
      const next = findNextTerminal(layout, after.closed[sandbox_id] ?? [], session_id)
      return next === undefined ? after : withTerminalSelected(after, sandbox_id, next)
    })
    focus.request()
  }

  return {
    creating: creations > 0,
    learnRoom(size) {
      room.current = size
    },
    open,
    tryOpen,
    openFirst,
    async close(leaving, layout) {
      await Promise.all(leaving.map((terminal) => close(terminal, layout)))
    },
    async runAgain(terminal, arrange) {
      const opened = await tryOpen({ id: terminal.sandbox_id }, { command: terminal.command, arrange })
      if (opened) changeSelection((before) => withTabClosed(before, terminal.sandbox_id, terminal.session_id))
    },
    rename: terminals.rename,
    retitle: terminals.retitle,
  }
}
