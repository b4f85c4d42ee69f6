/** How a program ended: both are null when nobody knows. */
export type TerminalEnd = {
  exitCode: number | null
  signal: string | null
  /** It ended because its sandbox did, which may run again. */
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
