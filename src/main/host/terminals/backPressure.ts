import type { MachineTerminal } from '../runtimes/sandboxRuntime.ts'

/** A consumer of output: how far behind it is, and how far it may fall behind before the program is paused. */
export type Consumer = { behind: number; allowed: number }

/** Pauses a program while a consumer is too far behind, and resumes it when all have caught up halfway. */
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
