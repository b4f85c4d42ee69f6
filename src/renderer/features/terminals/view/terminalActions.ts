import { ALargeSmall, ArrowDownToLine, ClipboardPaste, Copy, Search, TextSelect, ZoomIn, ZoomOut } from 'lucide-react'
import type { Command } from '../../../ui/commands/commandRegistry.tsx'
import type { MenuItem } from '../../../ui/Menu.tsx'
import { notify } from '../../../ui/toast.tsx'
import { changeFontSize } from './fontSize.ts'
import { copySelection, pasteClipboard } from './terminalClipboard.ts'
import type { TerminalKeyAction } from './terminalKeys.ts'
import type { TerminalSession } from './terminalSession.ts'

type TerminalActionsOptions = { session: TerminalSession | undefined; apple: boolean; onSearch: () => void }

export type TerminalActions = {
  commands: readonly Command[]
  menu: readonly MenuItem[]
  key(action: TerminalKeyAction): void
}

const section = 'Terminal'

/** What can be done with the terminal in view: from the palette, its context menu and its keys. */
export function terminalActions({ session, apple, onSearch }: TerminalActionsOptions): TerminalActions {
  const enabled = session !== undefined
  const copyKeys = apple ? 'meta+c' : 'ctrl+shift+c'
  const pasteKeys = apple ? 'meta+v' : 'ctrl+shift+v'
  const searchKeys = apple ? 'meta+f' : 'ctrl+shift+f'

  const copy = async () => {
    if (!session) return
    if (!session.terminal.hasSelection())
      notify.told('Nothing is selected.', { hint: 'Select text with the pointer first.' })
    else if (await copySelection(session.terminal)) session.terminal.clearSelection()
    else notify.told('The browser did not allow copying.', { hint: 'Allow this page to use the clipboard.' })
  }
  const paste = async () => {
    if (!session || (await pasteClipboard(session.terminal))) return
    const keys = apple ? '⌘V' : 'Ctrl+Shift+V'
    notify.told('The browser keeps the clipboard from this menu.', { hint: `Paste with ${keys} instead.` })
  }
  const selectAll = () => session?.terminal.selectAll()
  const toEnd = () => session?.terminal.scrollToBottom()

  return {
    commands: [
      {
        id: 'terminal.search',
        title: 'Search in terminal',
        section,
        icon: Search,
        shortcut: searchKeys,
        run: onSearch,
        enabled,
      },
      {
        id: 'terminal.copy',
        title: 'Copy selection',
        section,
        icon: Copy,
        ...(!apple && { shortcut: copyKeys }),
        run: () => void copy(),
        enabled,
      },
      {
        id: 'terminal.paste',
        title: 'Paste into terminal',
        section,
        icon: ClipboardPaste,
        run: () => void paste(),
        enabled,
      },
      { id: 'terminal.select-all', title: 'Select all output', section, icon: TextSelect, run: selectAll, enabled },
      { id: 'terminal.end', title: 'Scroll to the end', section, icon: ArrowDownToLine, run: toEnd, enabled },
      {
        id: 'terminal.larger',
        title: 'Larger terminal text',
        section,
        icon: ZoomIn,
        shortcut: 'mod+=, mod++',
        run: () => changeFontSize('larger'),
      },
      {
        id: 'terminal.smaller',
        title: 'Smaller terminal text',
        section,
        icon: ZoomOut,
        shortcut: 'mod+-',
        run: () => changeFontSize('smaller'),
      },
      {
        id: 'terminal.usual',
        title: 'Usual terminal text size',
        section,
        icon: ALargeSmall,
        shortcut: 'mod+0',
        run: () => changeFontSize('usual'),
      },
    ],
    menu: [
      { label: 'Copy', icon: Copy, shortcut: copyKeys, onSelect: () => void copy() },
      { label: 'Paste', icon: ClipboardPaste, shortcut: pasteKeys, onSelect: () => void paste() },
      { label: 'Select all', icon: TextSelect, onSelect: selectAll },
      'separator',
      { label: 'Search…', icon: Search, shortcut: searchKeys, onSelect: onSearch },
      { label: 'Scroll to the end', icon: ArrowDownToLine, onSelect: toEnd },
    ],
    key(action) {
      if (action === 'copy') void copy()
      else if (action !== 'paste') changeFontSize(action)
    },
  }
}
