import type { ToolCaller } from '../base/toolCaller.ts'
import type { RunningCall } from './runningCalls.ts'

export type ToolRun = {
  caller: ToolCaller
  /** Fires when the client has gone or takes the call back: what has not been approved is withdrawn. */
  signal: AbortSignal
  /** Called with the elapsed seconds of a long call. */
  progress?: ((seconds: number, message: string) => void) | undefined
  /** Called with a command's output while it runs, if the caller displays it. */
  output?: ((text: string) => void) | undefined
  /** Instead of `toolWaits`: 0 answers at once with what waits. */
  waitMs?: { person: number; program: number }
  /** The id of a call that waited: its outcome is what is asked for, and nothing is run again. */
  resume?: string | undefined
}

/** A run with its bond to the caller. */
export type BoundRun = ToolRun & { call: RunningCall }
