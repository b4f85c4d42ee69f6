import { Columns2, Copy, Maximize2, PanelTop, Pencil, Radio, Rows2, X } from 'lucide-react'
import type { Command } from '#renderer/ui/commands/commandRegistry.tsx'
import {
  broadcastKeys,
  closeTabKeys,
  focusKeys,
  growKeys,
  splitDownKeys,
  splitRightKeys,
  zoomKeys,
} from '#renderer/ui/commands/terminalSafeKeys.ts'
import { copyId } from '#renderer/ui/copyId.ts'
import type { MenuItem } from '#renderer/ui/Menu.tsx'
import { findPaneNeighbor, resizePane } from '../layout/paneRoom.ts'
import { listPaneIds, type Side } from '../layout/paneTree.ts'
import { updateTab, withSplitTerminal, withTerminalAsTab } from '../layout/tabLayout.ts'
import type { WorkbenchContext } from './workbenchContext.ts'

const section = 'Terminal panes'
const sides = ['left', 'right', 'up', 'down'] as const
const where: Record<Side, string> = { left: 'on the left', right: 'on the right', up: 'above', down: 'below' }
const growth: Record<Side, string> = {
  left: 'to the left',
  right: 'to the right',
  up: 'up',
  down: 'down',
}
const growStep = 0.04

export function createPaneCommands(context: WorkbenchContext): Command[] {
  const { tab, present, running, broadcast, arrange } = context
  const id = present?.session_id
  const several = tab?.tree.kind === 'split'
  const moving = several && !tab.zoomed
  return [
    {
      id: 'panes.split-right',
      title: 'Split right',
      section,
      icon: Columns2,
      shortcut: splitRightKeys,
      keywords: ['pane', 'column', 'vertical'],
      run: () => splitAt(context, 'right'),
      enabled: running && present !== undefined,
    },
    {
      id: 'panes.split-down',
      title: 'Split down',
      section,
      icon: Rows2,
      shortcut: splitDownKeys,
      keywords: ['pane', 'row', 'horizontal'],
      run: () => splitAt(context, 'down'),
      enabled: running && present !== undefined,
    },
    ...sides.map((side) => ({
      id: `panes.focus-${side}`,
      title: `Go to the terminal ${where[side]}`,
      section,
      shortcut: focusKeys[side],
      run: () => goTo(context, side),
      enabled: several,
    })),
    ...sides.map((side) => ({
      id: `panes.grow-${side}`,
      title: `Move the divider ${growth[side]}`,
      section,
      shortcut: growKeys[side],
      keywords: ['resize', 'size', 'larger', 'smaller'],
      repeats: true,
      run: () => {
        if (id) {
          arrange((before) =>
            updateTab(before, id, (item) => ({ ...item, tree: resizePane(item.tree, id, { side, by: growStep }) })),
          )
        }
      },
      enabled: moving,
    })),
    {
      id: 'panes.zoom',
      title: tab?.zoomed ? 'Show all terminals in this tab' : 'Maximize this terminal',
      section,
      icon: Maximize2,
      shortcut: zoomKeys,
      keywords: ['zoom', 'maximize'],
      run: () => zoom(context),
      enabled: several && broadcast.ids === undefined,
    },
    {
      id: 'panes.broadcast',
      title: broadcast.ids ? 'Stop broadcasting' : 'Broadcast input to all terminals in this tab',
      section,
      icon: Radio,
      shortcut: broadcastKeys,
      keywords: ['broadcast', 'synchronize'],
      run: () => (broadcast.ids ? broadcast.end() : startBroadcast(context)),
      enabled: several,
    },
    {
      id: 'panes.own-tab',
      title: 'Move this terminal to a new tab',
      section,
      icon: PanelTop,
      run: () => id && arrange((before) => withTerminalAsTab(before, id, placeAfterTab(context, id))),
      enabled: several,
    },
  ]
}

export function createPaneMenu({ id, ...context }: WorkbenchContext & { id: string }): MenuItem[] {
  const { running, broadcast, arrange, rename, close } = context
  const at = (side: Side) => splitAt({ ...context, present: context.byId.get(id) }, side)
  return [
    { label: 'Rename…', icon: Pencil, onSelect: () => rename(id) },
    { label: 'Copy ID', icon: Copy, onSelect: () => void copyId(id, 'terminal') },
    'separator',
    { label: 'Split right', icon: Columns2, shortcut: splitRightKeys, disabled: !running, onSelect: () => at('right') },
    { label: 'Split down', icon: Rows2, shortcut: splitDownKeys, disabled: !running, onSelect: () => at('down') },
    {
      label: 'Move to a new tab',
      icon: PanelTop,
      onSelect: () => arrange((before) => withTerminalAsTab(before, id, placeAfterTab(context, id))),
    },
    'separator',
    broadcast.ids
      ? { label: 'Stop broadcasting', icon: Radio, shortcut: broadcastKeys, onSelect: broadcast.end }
      : { label: 'Broadcast input', icon: Radio, shortcut: broadcastKeys, onSelect: () => startBroadcast(context) },
    { label: 'Close', icon: X, shortcut: closeTabKeys, onSelect: () => close([id]) },
  ]
}

function splitAt({ present, current, actions, directoryBeside }: WorkbenchContext, side: Side): void {
  const at = present?.session_id
  if (at)
    actions.newTerminal((layout, added) => withSplitTerminal(current(layout), added, { at, side }), directoryBeside(at))
}

function goTo({ tab, present, show, actions }: WorkbenchContext, side: Side): void {
  const next = tab && present && findPaneNeighbor(tab.tree, present.session_id, side)
  if (!next) return
  show(next)
  actions.focus()
}

function zoom({ present, arrange, actions }: WorkbenchContext): void {
  const id = present?.session_id
  if (!id) return
  arrange((before) => updateTab(before, id, (item) => ({ ...item, active: id, zoomed: !item.zoomed })))
  actions.focus()
}

/** Unzooms the tab, so that all terminals that receive input are visible. */
function startBroadcast({ tab, broadcast, arrange, actions }: WorkbenchContext): void {
  if (tab?.zoomed) arrange((before) => updateTab(before, tab.active, (it) => ({ ...it, zoomed: false })))
  broadcast.begin()
  actions.focus()
}

function placeAfterTab({ layout }: WorkbenchContext, id: string): number {
  return layout.findIndex(({ tree }) => listPaneIds(tree).includes(id)) + 1
}
