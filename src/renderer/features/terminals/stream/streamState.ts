/** Exit of a program: both are null if unknown. */
export type TerminalEnd = {
  exitCode: number | null
  signal: string | null
  /** Set if it ended with its sandbox, which may run again. */
  withSandbox?: 'stopped' | 'restarted'
}

export type StreamState =
  | { phase: 'connecting' }
  | { phase: 'live' }
  /** `holding`: what was typed waits for the connection; `refusing`: too much typing waits already, so the last of it was not taken. */
  | { phase: 'reconnecting'; attempt: number; holding: boolean; refusing: boolean }
  /** Let go while hidden; attached again when shown. */
  | { phase: 'parked' }
  | { phase: 'ended'; end: TerminalEnd }
  /** There is nothing to attach to any more. */
  | { phase: 'gone'; reason: string }
  | { phase: 'closed' }

/** Whether a stream in this phase never attaches again. */
export function isFinalPhase(phase: StreamState['phase']): boolean {
  return phase === 'closed' || phase === 'ended' || phase === 'gone'
}
