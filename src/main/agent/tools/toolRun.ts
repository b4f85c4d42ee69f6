import type { ToolCaller } from '../base/toolCaller.ts'
import type { RunningCall } from './runningCalls.ts'

export type ToolRun = {
  caller: ToolCaller
  /** Fires when the client disconnects or cancels the call. Pending approvals are canceled. */
  signal: AbortSignal
  /** Called with the elapsed seconds of a long call. */
  progress?: ((seconds: number, message: string) => void) | undefined
  /** Called with the output of a running command, if the caller displays it. */
  output?: ((text: string) => void) | undefined
  /** Overrides `toolWaits`; 0 returns waiting calls immediately. */
  waitMs?: { person: number; program: number }
  /** Id of a waiting call. Its outcome is returned, and nothing runs again. */
  resume?: string | undefined
}

/** Run with the lease of its caller. */
export type BoundRun = ToolRun & { call: RunningCall }
