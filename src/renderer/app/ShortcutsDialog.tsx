import { useRegisteredCommands } from '../ui/commands/commandRegistry.tsx'
import { detectKeyboard } from '../ui/commands/shortcuts.ts'
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
import { Dialog } from '../ui/Dialog.tsx'
import { Kbd } from '../ui/Kbd.tsx'
import { groupBySection } from './bySection.ts'

type ListedShortcut = { id: string; title: string; section: string; shortcut: string }

const toListedShortcuts = (
  section: string,
  rows: readonly (readonly [id: string, title: string, shortcut: string])[],
) => rows.map(([id, title, shortcut]): ListedShortcut => ({ id, title, section, shortcut }))

/** Shortcuts of the Terminals section, listed even while another section is open. */
const terminalShortcuts: readonly ListedShortcut[] = [
  ...toListedShortcuts('Sandboxes', [
    ['sandbox.new', 'New sandbox…', newSandboxKeys],
    ['sandbox.list', 'Switch focus: sandboxes / terminal', listKeys],
  ]),
  ...toListedShortcuts('Details', [['side.toggle', 'Show sandbox details', sideKeys]]),
  ...toListedShortcuts('Terminal tabs', [
    ['tabs.new', 'New terminal', newTerminalKeys],
    ['tabs.close', 'Close terminal', closeTabKeys],
    ['tabs.next', 'Next tab', nextTabKeys],
    ['tabs.previous', 'Previous tab', previousTabKeys],
  ]),
  ...toListedShortcuts('Terminal panes', [
    ['panes.split-right', 'Split right', splitRightKeys],
    ['panes.split-down', 'Split down', splitDownKeys],
    ['panes.zoom', 'Maximize this terminal', zoomKeys],
    ['panes.broadcast', 'Broadcast input to all terminals in this tab', broadcastKeys],
  ]),
]

type ShortcutsDialogProps = { open: boolean; onOpenChange: (open: boolean) => void }

export function ShortcutsDialog({ open, onOpenChange }: ShortcutsDialogProps) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Keyboard shortcuts"
      description={`In a terminal, only ${detectKeyboard().apple ? '⌘' : 'Ctrl+Shift'} shortcuts work. All other keys go to the program.`}
    >
      <ShortcutList />
    </Dialog>
  )
}

function ShortcutList() {
  const registered = useRegisteredCommands().filter(({ shortcut }) => shortcut !== undefined)
  const elsewhere = terminalShortcuts.filter(({ id }) => !registered.some((it) => it.id === id))
  const commands = [...registered, ...elsewhere]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
    <section tabIndex={0} aria-label="All shortcuts" className="flex flex-col gap-4 rounded-card">
      {groupBySection(commands).map(([section, members]) => (
        <section key={section} aria-label={section}>
          <h3 className="mb-1 text-tiny font-medium text-faint">{section}</h3>
          <ul className="divide-y divide-line">
            {members.map(({ id, title, shortcut = '' }) => (
              <li key={id} className="flex min-h-8 items-center gap-3 py-1">
                <span className="min-w-0 flex-1">{title}</span>
                {shortcut.split(', ').map((one, place) => (
                  <span key={one} className="flex items-center gap-3">
                    {place > 0 && <span className="text-small text-faint">or</span>}
                    <Kbd shortcut={one} />
                  </span>
                ))}
              </li>
            ))}
          </ul>
        </section>
      ))}
    </section>
  )
}
