import { joinClassNames } from '#renderer/ui/classNames.ts'
import { Menu, type MenuItem } from '#renderer/ui/Menu.tsx'
import type { CommandMark } from '#shared/terminalMarks.ts'
import type { VisibleCommand } from './commandTrail.ts'
import { useObservable } from './observable.ts'
import type { TerminalSession } from './terminalSession.ts'

type CommandGutterProps = { session: TerminalSession; menuOf: (command: CommandMark) => readonly MenuItem[] }

/**
 * Marks each prompt with the result of its command, and offers actions on it. The command palette contains the same
 * actions.
 */
export function CommandGutter({ session, menuOf }: CommandGutterProps) {
  const commands = useObservable(session.commands.visible)
  const screen = session.terminal.element?.querySelector('.xterm-screen')
  if (!screen || commands.length === 0) return null
  const rowHeight = screen.clientHeight / session.terminal.rows
  return (
    <section aria-label="Commands in view" className="absolute top-1.5 left-0 z-10 w-4">
      {commands.map((command) => (
        <Menu key={command.id} items={menuOf(command)}>
          <button
            type="button"
            tabIndex={-1}
            aria-label={describeCommand(command)}
            title={describeCommand(command)}
            style={{ top: command.row * rowHeight, height: rowHeight }}
            className="absolute inset-x-0 flex items-center justify-center rounded-small hover:bg-hover aria-expanded:bg-selected"
          >
            <span aria-hidden className={joinClassNames('block rounded-full', getClassName(command))} />
          </button>
        </Menu>
      ))}
    </section>
  )
}

function getClassName({ state, exitCode, isChosen }: VisibleCommand): string {
  const ring = isChosen ? 'ring-2 ring-accent' : undefined
  if (state === 'running') return joinClassNames('size-2 border-[1.5px] border-accent', ring)
  if (exitCode === null) return joinClassNames('size-1.5 border-[1.5px] border-faint', ring)
  if (exitCode === 0) return joinClassNames('size-1.5 bg-positive', ring)
  // Distinct shape for users who cannot distinguish the color.
  return joinClassNames('size-2 rotate-45 rounded-none! bg-negative', ring)
}

export function describeCommand({ command, state, exitCode }: CommandMark): string {
  const [first = ''] = command.split('\n')
  const name = first === '' ? 'A command' : first.length > 60 ? `${first.slice(0, 60)}…` : first
  if (state === 'running') return `${name}: running`
  return exitCode === null ? `${name}: ended` : `${name}: exit code ${exitCode}`
}
