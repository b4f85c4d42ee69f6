import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import type { TerminalMatch } from '#shared/contract/terminalSearch.ts'
import type { Terminal } from '#shared/contract/terminals.ts'
import type { SandboxId } from '#shared/ids.ts'
import { useLiveEvent } from '../../api/liveEvents.ts'
import type { SandboxList } from '../../api/sandboxes/sandboxList.ts'
import { useSandboxes } from '../../api/sandboxes/useSandboxes.ts'
import { forgetOtherDrafts } from '../../features/files/editor/drafts.ts'
import { forgetOtherUploads } from '../../features/files/transfers/storedTransfers.ts'
import type { SandboxRowActions } from '../../features/sandboxes/list/SandboxRow.tsx'
import { useSandboxActions } from '../../features/sandboxes/useSandboxActions.ts'
import { useRunningPrograms } from '../../features/terminals/closing/useRunningPrograms.ts'
import { type Layout, nextAfter } from '../../features/terminals/layout/tabLayout.ts'
import { useLayouts } from '../../features/terminals/layout/useLayouts.ts'
import {
  findNeighbor,
  type Selection,
  withListedSandboxes,
  withListedTabs,
  withSandboxForgotten,
  withSandboxSelected,
  withTabClosed,
  withTabOpen,
  withTerminalSelected,
} from '../../features/terminals/selection/selection.ts'
import { useSelection } from '../../features/terminals/selection/useSelection.ts'
import {
  type NewTerminal,
  shellCommand,
  useTerminalActions,
} from '../../features/terminals/sessions/useTerminalActions.ts'
import type { Arrange, WorkbenchActions } from '../../features/terminals/sessions/workbenchActions.ts'
import type { TerminalSize } from '../../features/terminals/stream/terminalScreen.ts'
import { copyId } from '../../ui/copyId.ts'
import { goTo } from '../../ui/route.ts'
import { notify } from '../../ui/toast.tsx'
import { useAddressedSandbox } from './useSandboxAddress.ts'
import type { PortRequest } from './useSandboxLinks.ts'

type PlacedTerminal = NewTerminal & { arrange?: Arrange }

export type ScreenDialog =
  | { kind: 'create' | 'images' | 'search' }
  | { kind: 'run' | 'delete' | 'rename' | 'snapshot'; sandbox: Sandbox }
  | { kind: 'expose'; sandbox: Sandbox; asked: PortRequest }
  | { kind: 'stop'; sandbox: Sandbox; programs: readonly string[] }

export type TerminalsScreenState = {
  /** Absent until first read. */
  sandboxes: SandboxList | undefined
  /** The sandbox in view. */
  present: Sandbox | undefined
  selection: Selection
  layoutOf(sandbox: Sandbox): Layout
  /** Whether a terminal is being opened here: the caller decides its position, not the list. */
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
  askToExpose(sandbox: Sandbox, asked: PortRequest): void
  /** Whatever runs in it. */
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

/** State and actions of the terminals screen. */
export function useTerminalsScreen(): TerminalsScreenState {
  const { data: sandboxes } = useSandboxes()
  const { create, start, stop, remove } = useSandboxActions()
  const terminals = useTerminalActions()
  const [selection, changeSelection] = useSelection()
  const layouts = useLayouts()
  const runningPrograms = useRunningPrograms()
  const [creations, setCreations] = useState(0)
  const [dialog, setDialog] = useState<ScreenDialog>()
  const [reveal, setReveal] = useState<TerminalMatch>()
  const [wantsFocus, setWantsFocus] = useState(true)
  const room = useRef<TerminalSize>(undefined)
  // Created or started here, and not running yet: each gets a first terminal once it is.
  const awaited = useRef(new Set<SandboxId>())
  const closing = useRef(new Set<string>())
  const present = useAddressedSandbox(sandboxes, selection.sandboxId)
  const presentId = present?.id
  const learnPresent = useEffectEvent((id: SandboxId) => {
    if (selection.sandboxId === id) return
    changeSelection((before) => withSandboxSelected(before, id))
    setWantsFocus(true)
  })
  useEffect(() => {
    if (presentId !== undefined) learnPresent(presentId)
  }, [presentId])

  const forgetOthers = useEffectEvent((ids: readonly SandboxId[]) => {
    layouts.keep(ids)
    changeSelection((before) => withListedSandboxes(before, ids))
    forgetOtherDrafts(ids)
    forgetOtherUploads(ids)
  })
  useEffect(() => {
    if (sandboxes) forgetOthers(sandboxes.map(({ id }) => id))
  }, [sandboxes])

  const open = (sandbox: Sandbox) => {
    changeSelection((before) => withSandboxSelected(before, sandbox.id))
    goTo('terminals', sandbox.id)
    setWantsFocus(true)
  }

  const openTerminal = async (sandbox: Pick<Sandbox, 'id'>, { arrange, ...terminal }: PlacedTerminal) => {
    setCreations((count) => count + 1)
    const { session_id } = await terminals
      .create(sandbox.id, { size: room.current, ...terminal })
      .finally(() => setCreations((count) => count - 1))
    if (arrange) layouts.change(sandbox.id, (layout) => arrange(layout, session_id))
    changeSelection((before) => withTerminalSelected(before, sandbox.id, session_id))
    setWantsFocus(true)
  }

  const tryTerminal = async (sandbox: Pick<Sandbox, 'id'>, terminal: PlacedTerminal): Promise<boolean> => {
    const { cwd, ...anywhere } = terminal
    try {
      await openTerminal(sandbox, terminal)
      return true
    } catch (error) {
      // The folder may be gone, or of another machine.
      if (cwd !== undefined) return tryTerminal(sandbox, anywhere)
      notify.failed(error, { title: 'Could not open a terminal' })
      return false
    }
  }

  const openFirst = (sandbox: Sandbox) => {
    if (sandbox.status === 'provisioning') awaited.current.add(sandbox.id)
    else if (sandbox.status === 'running') void tryTerminal(sandbox, { command: shellCommand })
  }
  useLiveEvent((event) => {
    if (event.type !== 'sandbox.changed' || event.sandbox.status === 'provisioning') return
    if (awaited.current.delete(event.sandbox.id)) openFirst(event.sandbox)
  })

  const startSandbox = async (sandbox: Sandbox) => {
    const started = await start(sandbox)
    if (started) openFirst(started)
  }

  const askToStop = async (sandbox: Sandbox) =>
    setDialog({ kind: 'stop', sandbox, programs: (await runningPrograms(sandbox)) ?? [] })

  /** Asks first when a program would end that is not the shell. */
  const stopUnlessBusy = async (sandbox: Sandbox) => {
    const programs = await runningPrograms(sandbox)
    if (programs?.length === 0) await stop(sandbox)
    else setDialog({ kind: 'stop', sandbox, programs: programs ?? [] })
  }

  const closeTabs = async (leaving: readonly Terminal[], layout: Layout) => {
    await Promise.all(
      leaving.map(async (terminal) => {
        const { session_id, sandbox_id } = terminal
        if (closing.current.has(session_id)) return
        closing.current.add(session_id)
        const closed = await terminals.close(terminal)
        closing.current.delete(session_id)
        if (!closed) return
        changeSelection((before) => {
          const after = withTabClosed(before, sandbox_id, session_id)
          if ((before.terminals[sandbox_id] ?? layout[0]?.active) !== session_id) return after
          const next = nextAfter(layout, after.closed[sandbox_id] ?? [], session_id)
          return next === undefined ? after : withTerminalSelected(after, sandbox_id, next)
        })
        setWantsFocus(true)
      }),
    )
  }

  const runAgain = async (terminal: Terminal, arrange: Arrange) => {
    const opened = await tryTerminal({ id: terminal.sandbox_id }, { command: terminal.command, arrange })
    if (opened) changeSelection((before) => withTabClosed(before, terminal.sandbox_id, terminal.session_id))
  }

  return {
    sandboxes,
    present,
    selection,
    layoutOf: ({ id }) => layouts.layoutOf(id),
    creating: creations > 0,
    dialog,
    wantsFocus,
    onFocused: () => setWantsFocus(false),
    focusTerminal: () => setWantsFocus(true),
    learnRoom(size) {
      room.current = size
    },
    open,
    askForSandbox: () => setDialog({ kind: 'create' }),
    askForImages: () => setDialog({ kind: 'images' }),
    askForSnapshot: (sandbox) => setDialog({ kind: 'snapshot', sandbox }),
    askToExpose: (sandbox, asked) => setDialog({ kind: 'expose', sandbox, asked }),
    askToStop: (sandbox) => void askToStop(sandbox),
    askForSearch: () => setDialog({ kind: 'search' }),
    reveal,
    showTerminal({ id }, terminalId) {
      changeSelection((before) => withTerminalSelected(withTabOpen(before, id, terminalId), id, terminalId))
      setWantsFocus(true)
    },
    openMatch(match) {
      const { sandbox_id, session_id } = match
      setDialog(undefined)
      changeSelection((before) =>
        withTerminalSelected(
          withSandboxSelected(withTabOpen(before, sandbox_id, session_id), sandbox_id),
          sandbox_id,
          session_id,
        ),
      )
      goTo('terminals', sandbox_id)
      setReveal(match)
      setWantsFocus(true)
    },
    closeDialog: () => setDialog(undefined),
    create,
    created(sandbox) {
      setDialog(undefined)
      open(sandbox)
      openFirst(sandbox)
    },
    stop,
    async remove(sandbox) {
      await remove(sandbox)
      const next = findNeighbor(
        (sandboxes ?? []).map(({ id }) => id),
        sandbox.id,
      )
      changeSelection((before) => {
        const after = withSandboxForgotten(before, sandbox.id)
        return after.sandboxId === null && next !== undefined ? withSandboxSelected(after, next) : after
      })
      notify.done(`Deleted ${sandbox.name}`)
    },
    openTerminal,
    workbenchActions: (sandbox) => ({
      select(terminal) {
        changeSelection((before) => withTerminalSelected(before, terminal.sandbox_id, terminal.session_id))
      },
      close: (leaving, layout) => void closeTabs(leaving, layout),
      again: (terminal, arrange) => void runAgain(terminal, arrange),
      async allAgain(ended, replaced) {
        for (const terminal of ended) {
          await runAgain(terminal, (layout, added) => replaced(layout, terminal.session_id, added))
        }
      },
      newTerminal: (arrange, directory) =>
        void tryTerminal(sandbox, { command: shellCommand, ...(arrange && { arrange }), ...directory }),
      arrange: (change) => layouts.change(sandbox.id, change),
      rename: (terminal, name) => void terminals.rename(terminal, name),
      keepClosed: (listedIds) => changeSelection((before) => withListedTabs(before, sandbox.id, listedIds)),
      askForCommand: () => setDialog({ kind: 'run', sandbox }),
      startSandbox: () => void startSandbox(sandbox),
      askToDeleteSandbox: () => setDialog({ kind: 'delete', sandbox }),
      focus: () => setWantsFocus(true),
      retitle: terminals.retitle,
    }),
    sandboxActions: {
      newTerminal(sandbox) {
        open(sandbox)
        void tryTerminal(sandbox, { command: shellCommand })
      },
      start: (sandbox) => void startSandbox(sandbox),
      stop: (sandbox) => void stopUnlessBusy(sandbox),
      copyId: ({ id }) => void copyId(id, 'sandbox'),
      askToRename: (sandbox) => setDialog({ kind: 'rename', sandbox }),
      askToDelete: (sandbox) => setDialog({ kind: 'delete', sandbox }),
    },
  }
}
