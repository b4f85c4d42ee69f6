import { Camera, Copy, Layers, PanelLeft, Pencil, Play, Plus, Search, Square, Trash2 } from 'lucide-react'
import type { SandboxListActions } from '../../features/sandboxes/sandboxListActions.ts'
import type { Command } from '../../ui/commands/commandRegistry.tsx'
import { detectKeyboard } from '../../ui/commands/shortcuts.ts'
import { listKeys, newSandboxKeys, searchAllKeys } from '../../ui/commands/terminalSafeKeys.ts'
import type { TerminalsScreenState } from './useTerminalsScreen.ts'

const section = 'Sandboxes'

type ScreenCommandsOptions = {
  screen: TerminalsScreenState
  actions: SandboxListActions
  focusTerminal(): void
  openList(): void
}

export function createScreenCommands({ screen, actions, focusTerminal, openList }: ScreenCommandsOptions): Command[] {
  const {
    sandboxes = [],
    selection: { present },
    dialogs,
  } = screen
  return [
    {
      id: 'sandbox.new',
      title: 'New sandbox…',
      section,
      icon: Plus,
      shortcut: newSandboxKeys,
      keywords: ['create', 'machine'],
      run: () => dialogs.open({ kind: 'create' }),
    },
    {
      id: 'images.list',
      title: 'Images…',
      section,
      icon: Layers,
      keywords: ['add', 'remove', 'base', 'distribution'],
      run: () => dialogs.open({ kind: 'images' }),
    },
    {
      id: 'terminals.search-all',
      title: 'Search in all terminals',
      section: 'Terminal',
      icon: Search,
      shortcut: detectKeyboard().apple ? searchAllKeys.apple : searchAllKeys.other,
      keywords: ['find', 'scrollback', 'output'],
      run: () => dialogs.open({ kind: 'search' }),
      enabled: sandboxes.length > 0,
    },
    {
      id: 'sandbox.list',
      title: 'Switch focus: sandboxes / terminal',
      section,
      icon: PanelLeft,
      shortcut: listKeys,
      keywords: ['focus'],
      run: () => moveFocus(focusTerminal, openList),
    },
    ...(present === undefined
      ? []
      : [
          ...(present.status === 'running'
            ? [
                {
                  id: 'sandbox.stop',
                  title: `Stop ${present.name}…`,
                  section,
                  icon: Square,
                  // asks first, because it is one key away from other commands in the palette
                  run: () => dialogs.confirmStop(present),
                },
              ]
            : [
                {
                  id: 'sandbox.start',
                  title: `Start ${present.name}`,
                  section,
                  icon: Play,
                  run: () => actions.start(present),
                  enabled: present.status !== 'provisioning',
                },
              ]),
          {
            id: 'sandbox.copy-id',
            title: `Copy the ID of ${present.name}`,
            section,
            icon: Copy,
            run: () => actions.copyId(present),
          },
          {
            id: 'sandbox.snapshot',
            title: `Take a snapshot of ${present.name}…`,
            section,
            icon: Camera,
            run: () => dialogs.open({ kind: 'snapshot', sandbox: present }),
            enabled: present.status !== 'provisioning',
          },
          {
            id: 'sandbox.rename',
            title: `Rename ${present.name}…`,
            section,
            icon: Pencil,
            run: () => actions.askToRename(present),
          },
          {
            id: 'sandbox.delete',
            title: `Delete ${present.name}…`,
            section,
            icon: Trash2,
            run: () => actions.askToDelete(present),
          },
        ]),
  ]
}

/** Moves focus from the sandbox list to the terminal, and from anywhere else to the list. */
function moveFocus(focusTerminal: () => void, openList: () => void): void {
  const list = document.querySelector('[data-sandbox-list]')
  const row = list?.querySelector<HTMLElement>('[data-row][tabindex="0"]')
  if (!list) openList()
  else if (!row || list.contains(document.activeElement)) focusTerminal()
  else row.focus()
}
