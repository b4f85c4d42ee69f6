import type { Command } from '#renderer/ui/commands/commandRegistry.tsx'
import type { MenuItem } from '#renderer/ui/Menu.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import type { CommandMark } from '#shared/terminalMarks.ts'
import { createCommandCommands, createCommandMenu, createCommandsMenu } from './commandActions.ts'
import { openPreferences } from './preferences/openPreferences.ts'
import { changeFontSize } from './preferences/preferencesStore.ts'
import { copySelection } from './terminalClipboard.ts'
import type { TerminalKeyAction } from './terminalKeys.ts'
import type { TerminalSession } from './terminalSession.ts'
import { createTextCommands, createTextMenu, type TextActions } from './textActions.ts'

type TerminalActionsOptions = { session: TerminalSession | undefined; apple: boolean; onSearch: () => void }

export type TerminalActions = {
  commands: readonly Command[]
  menu: readonly MenuItem[]
  commandMenu(command: CommandMark): readonly MenuItem[]
  key(action: TerminalKeyAction): void
  pasteRefused(): void
}

export function createTerminalActions({ session, apple, onSearch }: TerminalActionsOptions): TerminalActions {
  const text: TextActions = {
    copy: () => void copy(session),
    paste: () => session?.pasteClipboard(),
    selectAll: () => session?.terminal.selectAll(),
    toEnd: () => session?.reading.toEnd(),
    search: onSearch,
  }
  return {
    commands: [
      ...createTextCommands(text, { apple, enabled: session !== undefined }),
      ...createCommandCommands(session, apple),
    ],
    menu: [...createTextMenu(text, apple), ...createCommandsMenu(session)],
    commandMenu: (command) => (session ? createCommandMenu(session, command) : []),
    key(action) {
      if (action === 'copy') text.copy()
      else if (action === 'preferences') openPreferences()
      else if (action === 'previous' || action === 'next') session?.commands.jump(action)
      else if (action !== 'paste') changeFontSize(action)
    },
    pasteRefused() {
      const keys = apple ? '⌘V' : 'Ctrl+Shift+V'
      notify.info('The browser blocks pasting from this menu.', { hint: `Paste with ${keys} instead.` })
    },
  }
}

async function copy(session: TerminalSession | undefined): Promise<void> {
  if (!session) return
  if (!session.terminal.hasSelection())
    notify.info('Nothing is selected.', { hint: 'Select text with the pointer first.' })
  else if (await copySelection(session.terminal)) session.terminal.clearSelection()
  else notify.info('The browser did not allow copying.', { hint: 'Allow this page to use the clipboard.' })
}
