import { ArrowDown, ArrowUp, Copy, CopyCheck, FolderOpen, RotateCw } from 'lucide-react'
import type { Command } from '#renderer/ui/commands/commandRegistry.tsx'
import { nextCommandKeys, previousCommandKeys } from '#renderer/ui/commands/terminalSafeKeys.ts'
import { copyText } from '#renderer/ui/copyText.ts'
import type { MenuItem } from '#renderer/ui/Menu.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import type { CommandMark } from '#shared/terminalMarks.ts'
import { sanitizePaste, toOneLine } from './paste/sanitizePaste.ts'
import type { TerminalSession } from './terminalSession.ts'

const section = 'Terminal'

/** Returns the palette's commands on the selected command, otherwise the latest one. */
export function createCommandCommands(session: TerminalSession | undefined, apple: boolean): Command[] {
  // ⌘ with an arrow key moves the cursor in text fields, so these shortcuts are handled only by the terminal.
  const keys = (shortcut: string) => (apple ? {} : { shortcut })
  return [
    {
      id: 'terminal.previous-command',
      title: 'Go to the previous command',
      section,
      icon: ArrowUp,
      ...keys(previousCommandKeys),
      run: () => jump(session, 'previous'),
      enabled: session !== undefined,
    },
    {
      id: 'terminal.next-command',
      title: 'Go to the next command',
      section,
      icon: ArrowDown,
      ...keys(nextCommandKeys),
      run: () => jump(session, 'next'),
      enabled: session !== undefined,
    },
    {
      id: 'terminal.copy-output',
      title: 'Copy last output',
      section,
      icon: CopyCheck,
      keywords: ['command', 'result'],
      run: () => withPresent(session, copyOutput),
      enabled: session !== undefined,
    },
    {
      id: 'terminal.copy-command',
      title: 'Copy last command',
      section,
      icon: Copy,
      run: () => withPresent(session, (_, command) => void copyText(getSafeText(command))),
      enabled: session !== undefined,
    },
    {
      id: 'terminal.run-again',
      title: 'Run the last command again',
      section,
      icon: RotateCw,
      keywords: ['repeat'],
      run: () => withPresent(session, runAgain),
      enabled: session !== undefined,
    },
    {
      id: 'terminal.copy-directory',
      title: 'Copy the working directory',
      section,
      icon: FolderOpen,
      keywords: ['path', 'folder', 'cwd'],
      run: () => void copyDirectory(session),
      enabled: session !== undefined,
    },
  ]
}

/** Returns the menu of the mark beside a command. */
export function createCommandMenu(session: TerminalSession, command: CommandMark): MenuItem[] {
  return [
    {
      label: 'Copy command',
      icon: Copy,
      disabled: command.command === '',
      onSelect: () => void copyText(getSafeText(command)).then(() => session.terminal.focus()),
    },
    { label: 'Copy output', icon: CopyCheck, onSelect: () => copyOutput(session, command) },
    {
      label: 'Run again',
      icon: RotateCw,
      disabled: command.command === '' || !session.commands.isWaiting(),
      onSelect: () => runAgain(session, command),
    },
  ]
}

/** Returns the entries on commands for the terminal's menu. */
export function createCommandsMenu(session: TerminalSession | undefined): MenuItem[] {
  const onSelect = () => withPresent(session, copyOutput)
  return ['separator', { label: 'Copy last output', icon: CopyCheck, onSelect }]
}

function jump(session: TerminalSession | undefined, way: 'previous' | 'next'): void {
  session?.commands.jump(way)
  session?.terminal.focus()
}

function withPresent(
  session: TerminalSession | undefined,
  act: (session: TerminalSession, command: CommandMark) => void,
): void {
  const present = session?.commands.present()
  if (session && present) act(session, present)
  else notify.info('No command found here.', { hint: 'Command marks work in shells of new sandboxes.' })
}

function copyOutput(session: TerminalSession, command: CommandMark): void {
  const output = session.commands.outputOf(command)
  if (output === '') notify.info('The command printed no output.')
  else void copyText(output).then((copied) => copied && notify.done('Output copied'))
  session.terminal.focus()
}

/**
 * Runs a command again. A command that output may have forged is only inserted at the prompt, so that the user can
 * review it.
 */
function runAgain(session: TerminalSession, mark: CommandMark): void {
  if (session.commands.isWaiting() && mark.command !== '') {
    if (mark.isVerified) session.paste.run(mark.command)
    else session.paste.paste(getSafeText(mark))
  } else
    notify.info('The shell is not waiting for a command.', { hint: 'Try again when the current command has finished.' })
  session.terminal.focus()
}

/**
 * Returns the command if the shell confirmed it. Otherwise returns it as a single line, which a shell does not run when
 * pasted.
 */
function getSafeText({ command, isVerified }: CommandMark): string {
  return isVerified ? command : toOneLine(sanitizePaste(command))
}

async function copyDirectory(session: TerminalSession | undefined): Promise<void> {
  const directory = session?.directory.now
  if (directory === undefined) notify.info('The working directory is unknown.')
  else if (await copyText(directory)) notify.done(`Copied ${directory}`)
}
