import type { RunningCall } from './runningCalls.ts'
import type { ToolCaller } from './toolCaller.ts'

export type ToolRun = {
  caller: ToolCaller
  /** Fires when the client has gone or takes the call back: what has not been approved is withdrawn. */
  signal: AbortSignal
  /** Told of a call that takes a while; how long it has taken, in seconds. */
  progress?: ((seconds: number, message: string) => void) | undefined
  /** Told what a command prints while it runs, where its caller shows that. */
  output?: ((text: string) => void) | undefined
  /** Instead of `toolWaits`: 0 answers at once with what waits. */
  waitMs?: { person: number; program: number }
  /** The id of a call that waited: its outcome is what is asked for, and nothing is run again. */
  resume?: string | undefined
}

/** A run with its bond to the caller. */
export type BoundRun = ToolRun & { call: RunningCall }
