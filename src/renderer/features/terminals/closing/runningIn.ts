import type { SandboxProcess } from '#shared/contract/processes.ts'
import type { Terminal } from '#shared/contract/terminals.ts'
import { isShell } from './runningProgram.ts'

/**
 * Lists the commands other than shells that run in these terminals, without duplicates. Stopping the sandbox would
 * terminate them.
 */
export function listRunning(terminals: readonly Terminal[], processes: readonly SandboxProcess[]): string[] {
  const present = terminals.filter(({ state }) => state === 'running').map(({ command }) => command.trim())
  const programs = present.filter((command) => !isShell(command))
  const shells = new Set(
    processes
      .filter(({ command }) => present.some((value) => isShell(value) && value === command))
      .map(({ pid }) => pid),
  )
  const begun = processes.filter(({ ppid }) => shells.has(ppid)).map(({ command }) => command)
  return [...new Set([...programs, ...begun])]
}
