import type { MachineTerminal } from '../runtimes/sandboxRuntime.ts'

/** One who uses output: how far behind it is, and how far it may be before the program has to wait. */
export type Consumer = { behind: number; allowed: number }

/** Pauses a program while a consumer is too far behind, and lets it go on when all have caught up halfway. */
export function backPressure(program: MachineTerminal | undefined): (consumers: readonly Consumer[]) => void {
  let paused = false
  return (consumers) => {
    if (!paused && consumers.some(({ behind, allowed }) => behind > allowed)) {
      paused = true
      program?.pause()
    } else if (paused && consumers.every(({ behind, allowed }) => behind <= allowed / 2)) {
      paused = false
      program?.resume()
    }
  }
}
