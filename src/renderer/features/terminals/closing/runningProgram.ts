import type { SandboxProcess } from '#shared/contract/processes.ts'
import type { Terminal } from '#shared/contract/terminals.ts'
import type { CommandTrail } from '../view/commandTrail.ts'

/** Program other than the shell. Closing the terminal would terminate it. */
export type RunningProgram = {
  terminal: Terminal
  /** Command as typed; empty if unknown. */
  command: string
}

type TrailState = Pick<CommandTrail, 'isMarked' | 'running'>

/** Returns the foreground program, `none`, or `unknown` if the shell does not report it or it is not loaded yet. */
export function findProgram(terminal: Terminal, trail: TrailState | undefined): RunningProgram | 'none' | 'unknown' {
  if (terminal.state === 'exited') return 'none'
  if (!isShell(terminal.command)) return { terminal, command: terminal.command }
  if (!trail?.isMarked()) return 'unknown'
  const running = trail.running()
  return running ? { terminal, command: running.command } : 'none'
}

/** Whether a shell of the terminal's kind has child processes. If several shells match, one of them suffices. */
export function hasRunningProgram({ command }: Terminal, processes: readonly SandboxProcess[]): boolean {
  const shells = new Set(processes.filter((it) => it.command === command.trim()).map(({ pid }) => pid))
  return processes.some(({ ppid }) => shells.has(ppid))
}

/** Whether the command is an interactive shell rather than a script. */
export function isShell(command: string): boolean {
  return /^(\S*\/)?(ba|z|da|a|k|fi)?sh(\s+(-[il]+|--login))*$/.test(command.trim())
}
