/** Exit of a program. Both fields are null if unknown. */
export type TerminalEnd = {
  exitCode: number | null
  signal: string | null
  /** Set if the program ended with its sandbox, which may be running again. */
  withSandbox?: 'stopped' | 'restarted'
}

export type StreamState =
  | { phase: 'connecting' }
  | { phase: 'live' }
  /**
   * `holding`: input is buffered until the connection is restored. `refusing`: the buffer is full, so the latest input
   * was rejected.
   */
  | { phase: 'reconnecting'; attempt: number; holding: boolean; refusing: boolean }
  /** Detached while hidden. Reattached when shown. */
  | { phase: 'parked' }
  | { phase: 'ended'; end: TerminalEnd }
  /** The terminal no longer exists. */
  | { phase: 'gone'; reason: string }
  | { phase: 'closed' }

/** Whether a stream in this phase never attaches again. */
export function isFinalPhase(phase: StreamState['phase']): boolean {
  return phase === 'closed' || phase === 'ended' || phase === 'gone'
}
