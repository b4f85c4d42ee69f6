import { ChevronLeft, ChevronRight, Copy, Play, Plus, X } from 'lucide-react'
import type { Terminal } from '../../../../shared/contract/terminals.ts'
import type { Command } from '../../../ui/commands/commandRegistry.tsx'
import type { MenuItem } from '../../../ui/Menu.tsx'
import { copyId } from '../copyId.ts'
import { closeTabKeys, newTerminalKeys, nextTabKeys, previousTabKeys } from '../shortcuts.ts'
import type { WorkbenchActions } from './workbenchActions.ts'

const section = 'Terminal tabs'

type TabCommandsOptions = {
  tabs: readonly Terminal[]
  present: Terminal | undefined
  running: boolean
  actions: WorkbenchActions
}

export function tabCommands({ tabs, present, running, actions }: TabCommandsOptions): Command[] {
  const several = tabs.length > 1
  const ended = tabs.filter(({ state }) => state === 'exited')
  const step = (by: number) => {
    const place = present === undefined ? -1 : tabs.indexOf(present)
    const target = tabs[(place + by + tabs.length) % tabs.length]
    if (!target) return
    actions.select(target)
    actions.focus()
  }
  return [
    {
      id: 'tabs.new',
      title: 'New terminal',
      section,
      icon: Plus,
      shortcut: newTerminalKeys,
      keywords: ['shell', 'bash', 'tab'],
      run: actions.newTerminal,
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
    {
      id: 'tabs.next',
      title: 'Next terminal',
      section,
      icon: ChevronRight,
      shortcut: nextTabKeys,
      run: () => step(1),
      enabled: several,
    },
    {
      id: 'tabs.previous',
      title: 'Previous terminal',
      section,
      icon: ChevronLeft,
      shortcut: previousTabKeys,
      run: () => step(-1),
      enabled: several,
    },
    {
      id: 'tabs.close',
      title: 'Close terminal',
      section,
      icon: X,
      shortcut: closeTabKeys,
      run: () => present && actions.close([present], tabs),
      enabled: present !== undefined,
    },
    {
      id: 'tabs.close-ended',
      title: 'Close ended terminals',
      section,
      icon: X,
      run: () => actions.close(ended, tabs),
      enabled: ended.length > 0,
    },
  ]
}

type TabMenuOptions = { id: string; tabs: readonly Terminal[]; running: boolean; actions: WorkbenchActions }

export function tabMenu({ id, tabs, running, actions }: TabMenuOptions): MenuItem[] {
  const own = tabs.filter((it) => it.session_id === id)
  const others = tabs.filter((it) => it.session_id !== id)
  const ended = tabs.filter(({ state }) => state === 'exited')
  return [
    { label: 'New terminal', icon: Plus, shortcut: newTerminalKeys, disabled: !running, onSelect: actions.newTerminal },
    { label: 'Copy id', icon: Copy, onSelect: () => void copyId(id, 'terminal') },
    'separator',
    { label: 'Close', icon: X, shortcut: closeTabKeys, onSelect: () => actions.close(own, tabs) },
    { label: 'Close others', disabled: others.length === 0, onSelect: () => actions.close(others, tabs) },
    { label: 'Close ended', disabled: ended.length === 0, onSelect: () => actions.close(ended, tabs) },
  ]
}
