import {
  broadcastKeys,
  closeTabKeys,
  listKeys,
  newSandboxKeys,
  newTerminalKeys,
  nextTabKeys,
  previousTabKeys,
  sideKeys,
  splitDownKeys,
  splitRightKeys,
  zoomKeys,
} from '../ui/commands/terminalSafeKeys.ts'

export type ListedShortcut = { id: string; title: string; section: string; shortcut: string }

const listed = (section: string, rows: readonly (readonly [id: string, title: string, shortcut: string])[]) =>
  rows.map(([id, title, shortcut]): ListedShortcut => ({ id, title, section, shortcut }))

/** Shortcuts of Terminals, listed also while another section is open. */
export const terminalShortcuts: readonly ListedShortcut[] = [
  ...listed('Sandboxes', [
    ['sandbox.new', 'New sandbox…', newSandboxKeys],
    ['sandbox.list', 'Switch focus: sandboxes / terminal', listKeys],
  ]),
  ...listed('Details', [['side.toggle', 'Show sandbox details', sideKeys]]),
  ...listed('Terminal tabs', [
    ['tabs.new', 'New terminal', newTerminalKeys],
    ['tabs.close', 'Close terminal', closeTabKeys],
    ['tabs.next', 'Next tab', nextTabKeys],
    ['tabs.previous', 'Previous tab', previousTabKeys],
  ]),
  ...listed('Terminal panes', [
    ['panes.split-right', 'Split right', splitRightKeys],
    ['panes.split-down', 'Split down', splitDownKeys],
    ['panes.zoom', 'Maximize this terminal', zoomKeys],
    ['panes.broadcast', 'Broadcast input to all terminals in this tab', broadcastKeys],
  ]),
]
