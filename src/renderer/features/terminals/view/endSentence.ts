import type { Tone } from '../../../ui/StatusDot.tsx'
import type { TerminalEnd } from '../stream/streamState.ts'

export function endSentence({ exitCode, signal }: TerminalEnd): string {
  if (signal !== null) return `Killed by ${signal}`
  if (exitCode === null) return 'Ended; its exit code is not known'
  return `Exited with code ${exitCode}`
}

export function endTone({ exitCode, signal }: TerminalEnd): Tone {
  if (signal !== null) return 'negative'
  if (exitCode === null) return 'caution'
  return exitCode === 0 ? 'neutral' : 'negative'
}
