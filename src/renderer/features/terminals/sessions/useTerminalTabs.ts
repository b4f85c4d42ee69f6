import { type RefObject, useRef, useState } from 'react'
import { useVisibleTerminals } from '#renderer/api/terminals/attentionRequests.ts'
import type { TerminalList } from '#renderer/api/terminals/terminalList.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import type { Terminal } from '#shared/contract/terminals.ts'
import { type Closing, useClosing } from '../closing/useClosing.ts'
import { listPaneIds } from '../layout/paneTree.ts'
import { findTab, type Layout, reconcileLayout, type TabLayout, withActive } from '../layout/tabLayout.ts'
import { useBroadcast } from '../panes/useBroadcast.ts'
import { type PaneHosts, usePaneHosts } from '../panes/usePaneHosts.ts'
import { type TabDragState, useTabDrag } from '../panes/useTabDrag.ts'
import type { WorkbenchContext } from '../panes/workbenchContext.ts'
import type { TerminalSession } from '../view/terminalSession.ts'
import { buildTabLabels } from './tabLabels.ts'
import { type Marks, useMarks } from './useMarks.ts'
import { useRecent } from './useRecent.ts'
import type { WorkbenchActions } from './workbenchActions.ts'

/** Maximum number of tabs that stay mounted. Terminals of other tabs are reattached when shown. */
const maxMounted = 8

type TerminalTabsOptions = {
  sandbox: Sandbox
  visible: boolean
  selectedId: string | undefined
  terminals: TerminalList
  layout: Layout
  actions: WorkbenchActions
}

export type TerminalTabsState = WorkbenchContext & {
  hosts: PaneHosts
  visibleIds: readonly string[]
  mountedTabIds: readonly string[]
  marks: Marks
  drag: TabDragState
  closing: Closing
  renamingId: string | undefined
  setRenamingId(terminalId: string | undefined): void
  select(terminal: Terminal): void
  /** Sessions of mounted terminals by terminal ID. */
  sessions: RefObject<Map<string, TerminalSession>>
}

export function useTerminalTabs({
  sandbox,
  visible,
  selectedId,
  terminals,
  layout,
  actions,
}: TerminalTabsOptions): TerminalTabsState {
  const ids = layout.flatMap(({ tree }) => listPaneIds(tree))
  const hosts = usePaneHosts(ids)
  const byId = new Map(terminals.map((terminal) => [terminal.session_id as string, terminal]))
  const labels = buildTabLabels(terminals)
  const getLabel = (id: string) => labels.get(id) ?? ''
  const tab = findTab(layout, selectedId) ?? layout[0]
  const present = byId.get(
    tab && selectedId && listPaneIds(tab.tree).includes(selectedId) ? selectedId : (tab?.active ?? ''),
  )
  const visibleIds = visible && tab ? (tab.zoomed ? [tab.active] : listPaneIds(tab.tree)) : []
  const mountedTabIds = useRecent(visible ? tab?.id : undefined, maxMounted)
  const marks = useMarks({ sandboxId: sandbox.id, visibleIds, getLabel })
  useVisibleTerminals(visibleIds)
  const broadcast = useBroadcast(tab)
  const [renamingId, setRenamingId] = useState<string>()
  const sessions = useRef(new Map<string, TerminalSession>())

  const current = (stored: Layout) => reconcileLayout(stored, ids)
  const arrange = (change: (layout: Layout) => Layout) => actions.arrange((stored) => change(current(stored)))
  const select = (terminal: Terminal) => {
    arrange((before) => withActive(before, terminal.session_id))
    actions.select(terminal)
  }
  const show = (id: string | undefined) => {
    const terminal = byId.get(id ?? '')
    if (terminal) select(terminal)
  }
  const drag = useTabDrag({
    layout,
    arrange,
    onMoved(id) {
      show(id)
      actions.focus()
    },
  })
  const closing = useClosing({
    sessionOf: (id) => sessions.current.get(id),
    close: (leaving) => actions.close(leaving, layout),
  })
  const close = (ids: readonly string[]) => closing.close(ids.flatMap((id) => byId.get(id) ?? []))

  return {
    layout,
    tab,
    present,
    byId,
    getLabel,
    directoryBeside: (id) => ({
      cwdOf: byId.get(id)?.session_id,
      cwd: sessions.current.get(id)?.directory.now,
    }),
    running: sandbox.status === 'running',
    broadcast,
    actions,
    current,
    arrange,
    close,
    closeTabs: (tabs: readonly TabLayout[]) => close(tabs.flatMap(({ tree }) => listPaneIds(tree))),
    show,
    rename: setRenamingId,
    hosts,
    visibleIds,
    mountedTabIds,
    marks,
    drag,
    closing,
    renamingId,
    setRenamingId,
    select,
    sessions,
  }
}
