import {
  ALargeSmall,
  ArrowDownToLine,
  ClipboardPaste,
  Copy,
  Search,
  Settings2,
  TextSelect,
  ZoomIn,
  ZoomOut,
} from 'lucide-react'
import type { Command } from '#renderer/ui/commands/commandRegistry.tsx'
import { preferencesKeys } from '#renderer/ui/commands/terminalSafeKeys.ts'
import type { MenuItem } from '#renderer/ui/Menu.tsx'
import { openPreferences } from './preferences/openPreferences.ts'
import { changeFontSize } from './preferences/preferencesStore.ts'

export type TextActions = Record<'copy' | 'paste' | 'selectAll' | 'toEnd' | 'search', () => void>

const section = 'Terminal'

export function createTextCommands(
  text: TextActions,
  { apple, enabled }: { apple: boolean; enabled: boolean },
): Command[] {
  const { copy: copyKeys, search: searchKeys } = listShortcuts(apple)
  return [
    {
      id: 'terminal.search',
      title: 'Search in terminal',
      section,
      icon: Search,
      shortcut: searchKeys,
      run: text.search,
      enabled,
    },
    {
      id: 'terminal.copy',
      title: 'Copy selection',
      section,
      icon: Copy,
      ...(!apple && { shortcut: copyKeys }),
      run: text.copy,
      enabled,
    },
    { id: 'terminal.paste', title: 'Paste into terminal', section, icon: ClipboardPaste, run: text.paste, enabled },
    { id: 'terminal.select-all', title: 'Select all output', section, icon: TextSelect, run: text.selectAll, enabled },
    { id: 'terminal.end', title: 'Scroll to the end', section, icon: ArrowDownToLine, run: text.toEnd, enabled },
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
      title: 'Reset terminal text size',
      section,
      icon: ALargeSmall,
      shortcut: 'mod+0',
      run: () => changeFontSize('usual'),
    },
  ]
}

export function createTextMenu(text: TextActions, apple: boolean): MenuItem[] {
  const { copy: copyKeys, paste: pasteKeys, search: searchKeys } = listShortcuts(apple)
  return [
    { label: 'Copy', icon: Copy, shortcut: copyKeys, onSelect: text.copy },
    { label: 'Paste', icon: ClipboardPaste, shortcut: pasteKeys, onSelect: text.paste },
    { label: 'Select all', icon: TextSelect, onSelect: text.selectAll },
    'separator',
    { label: 'Search…', icon: Search, shortcut: searchKeys, onSelect: text.search },
    { label: 'Scroll to the end', icon: ArrowDownToLine, onSelect: text.toEnd },
    { label: 'Preferences…', icon: Settings2, shortcut: preferencesKeys, onSelect: openPreferences },
  ]
}

function listShortcuts(apple: boolean) {
  return apple
    ? { copy: 'meta+c', paste: 'meta+v', search: 'meta+f' }
    : { copy: 'ctrl+shift+c', paste: 'ctrl+shift+v', search: 'ctrl+shift+f' }
}
