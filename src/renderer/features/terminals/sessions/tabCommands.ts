import {
  ChevronLeft,
  ChevronRight,
  ChevronsLeft,
  ChevronsRight,
  Columns2,
  Copy,
  Pencil,
  Play,
  Plus,
  Rows2,
  SquareTerminal,
  X,
} from 'lucide-react'
import type { Command } from '#renderer/ui/commands/commandRegistry.tsx'
import { detectKeyboard } from '#renderer/ui/commands/shortcuts.ts'
import {
  closeTabKeys,
  moveTabLeftKeys,
  moveTabRightKeys,
  newTerminalKeys,
  nextTabKeys,
  previousTabKeys,
  splitDownKeys,
  splitRightKeys,
} from '#renderer/ui/commands/terminalSafeKeys.ts'
import { copyId } from '#renderer/ui/copyId.ts'
import type { MenuItem } from '#renderer/ui/Menu.tsx'
import { listPaneIds, type Side } from '../layout/paneTree.ts'
import { withSplitTerminal, withTabMoved } from '../layout/tabLayout.ts'
import type { WorkbenchContext } from '../panes/workbenchContext.ts'
import type { WorkbenchActions } from './workbenchActions.ts'

const section = 'Terminal tabs'
const tabsByNumber = 9

/** Returns the commands that open terminals, available even if there are none. */
export function createOpenCommands({ running, actions }: { running: boolean; actions: WorkbenchActions }): Command[] {
  return [
    {
      id: 'tabs.new',
      title: 'New terminal',
      section,
      icon: Plus,
      shortcut: newTerminalKeys,
      keywords: ['shell', 'bash', 'tab'],
      run: () => actions.newTerminal(),
      enabled: running,
    },
    {
      id: 'tabs.run',
      title: 'Run a command in a new terminal…',
      section,
      icon: Play,
      run: actions.askForCommand,
      enabled: running,
    },
  ]
}

export function createTabCommands(context: WorkbenchContext): Command[] {
  const { layout, tab, present, arrange, close, show, actions, rename } = context
  const several = layout.length > 1
  const place = tab ? layout.indexOf(tab) : -1
  const go = (to: number) => {
    show(layout[(to + layout.length) % layout.length]?.active)
    actions.focus()
  }
  const ended = listEndedIds(context)
  return [
    {
      id: 'tabs.next',
      title: 'Next tab',
      section,
      icon: ChevronRight,
      shortcut: nextTabKeys,
      run: () => go(place + 1),
      enabled: several,
    },
    {
      id: 'tabs.previous',
      title: 'Previous tab',
      section,
      icon: ChevronLeft,
      shortcut: previousTabKeys,
      run: () => go(place - 1),
      enabled: several,
    },
    {
      id: 'tabs.move-right',
      title: 'Move tab to the right',
      section,
      icon: ChevronsRight,
      shortcut: moveTabRightKeys,
      keywords: ['reorder'],
      run: () => tab && arrange((before) => withTabMoved(before, tab.id, place + 2)),
      enabled: several && place < layout.length - 1,
    },
    {
      id: 'tabs.move-left',
      title: 'Move tab to the left',
      section,
      icon: ChevronsLeft,
      shortcut: moveTabLeftKeys,
      keywords: ['reorder'],
      run: () => tab && arrange((before) => withTabMoved(before, tab.id, place - 1)),
      enabled: several && place > 0,
    },
    ...layout.slice(0, tabsByNumber).map((_, index) => ({
      id: `tabs.go-${index + 1}`,
      title: `Go to tab ${index + 1}`,
      section,
      // On macOS, ⌘⇧3, ⌘⇧4 and ⌘⇧5 take screenshots.
      shortcut: detectKeyboard().apple ? `meta+${index + 1}` : `ctrl+shift+${index + 1}`,
      run: () => go(index),
      enabled: several,
    })),
    {
      id: 'tabs.rename',
      title: 'Rename terminal…',
      section,
      icon: Pencil,
      keywords: ['name', 'title'],
      run: () => present && rename(present.session_id),
      enabled: present !== undefined,
    },
    {
      id: 'tabs.close',
      title: 'Close terminal',
      section,
      icon: X,
      shortcut: closeTabKeys,
      run: () => present && close([present.session_id]),
      enabled: present !== undefined,
    },
    {
      id: 'tabs.close-ended',
      title: 'Close ended terminals',
      section,
      icon: X,
      run: () => close(ended),
      enabled: ended.length > 0,
    },
    ...[...context.byId.values()].map((terminal) => ({
      id: `tabs.show.${terminal.session_id}`,
      title: `Go to terminal ${context.getLabel(terminal.session_id)}`,
      section,
      icon: SquareTerminal,
      keywords: [terminal.session_id, terminal.command],
      run: () => {
        show(terminal.session_id)
        actions.focus()
      },
      enabled: terminal !== present,
    })),
  ]
}

export function createTabMenu({ tabId, ...context }: WorkbenchContext & { tabId: string }): MenuItem[] {
  const { layout, running, actions, current, close, closeTabs, rename } = context
  const own = layout.filter(({ id }) => id === tabId)
  const others = layout.filter(({ id }) => id !== tabId)
  const ended = listEndedIds(context)
  const active = own[0]?.active ?? ''
  const split = (side: Side) =>
    actions.newTerminal(
      (present, added) => withSplitTerminal(current(present), added, { at: active, side }),
      context.directoryBeside(active),
    )
  const several = own.some(({ tree }) => listPaneIds(tree).length > 1)
  return [
    {
      label: 'New terminal',
      icon: Plus,
      shortcut: newTerminalKeys,
      disabled: !running,
      onSelect: () => actions.newTerminal(),
    },
    {
      label: 'Split right',
      icon: Columns2,
      shortcut: splitRightKeys,
      disabled: !running,
      onSelect: () => split('right'),
    },
    { label: 'Split down', icon: Rows2, shortcut: splitDownKeys, disabled: !running, onSelect: () => split('down') },
    'separator',
    { label: 'Rename…', icon: Pencil, shortcut: 'f2', onSelect: () => rename(active) },
    { label: 'Copy ID', icon: Copy, onSelect: () => void copyId(active, 'terminal') },
    'separator',
    {
      label: several ? 'Close tab' : 'Close',
      icon: X,
      ...(!several && { shortcut: closeTabKeys }),
      onSelect: () => closeTabs(own),
    },
    { label: 'Close others', disabled: others.length === 0, onSelect: () => closeTabs(others) },
    { label: 'Close ended', disabled: ended.length === 0, onSelect: () => close(ended) },
  ]
}

function listEndedIds({ byId }: WorkbenchContext): string[] {
  return [...byId.values()].filter(({ state }) => state === 'exited').map(({ session_id }) => session_id)
}
