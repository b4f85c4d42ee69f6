import type { Tone } from '#renderer/ui/StatusDot.tsx'
import type { Terminal } from '#shared/contract/terminals.ts'
import type { TerminalEnd } from '../stream/streamState.ts'

export function endSentence({ exitCode, signal, withSandbox }: TerminalEnd): string {
  if (withSandbox === 'stopped') return 'Ended when the sandbox stopped'
  if (withSandbox === 'restarted') return 'Ended when the sandbox restarted'
  if (signal !== null) return `Ended by ${signal}`
  if (exitCode === null) return 'Ended (exit code unknown)'
  return `Exited with code ${exitCode}`
}

export function endTone({ exitCode, signal, withSandbox }: TerminalEnd): Tone {
  if (withSandbox !== undefined) return 'neutral'
  if (signal !== null) return 'negative'
  if (exitCode === null) return 'caution'
  return exitCode === 0 ? 'neutral' : 'negative'
}

type Ended = Pick<Terminal, 'state' | 'exit_code' | 'signal' | 'ended_with_sandbox'>

/** Returns the exit of a terminal, if it has exited. Its sandbox may be running again. */
export function describeEnd(terminal: Ended, sandboxRuns: boolean): TerminalEnd | undefined {
  if (terminal.state !== 'exited') return undefined
  const { exit_code: exitCode, signal, ended_with_sandbox: together } = terminal
  return { exitCode, signal, ...(together && { withSandbox: sandboxRuns ? 'restarted' : 'stopped' }) }
}
