import type { SandboxTerminal } from '../runtimes/sandboxRuntime.ts'

/** A consumer of output: how far behind it is, and how far it may fall behind before the program is paused. */
export type Consumer = { lag: number; allowed: number }

/** Pauses a program while a consumer is too far behind, and resumes it when all have caught up halfway. */
export function createBackPressure(program: SandboxTerminal | undefined): (consumers: readonly Consumer[]) => void {
  let paused = false
  return (consumers) => {
    if (!paused && consumers.some(({ lag, allowed }) => lag > allowed)) {
      paused = true
      program?.pause()
    } else if (paused && consumers.every(({ lag, allowed }) => lag <= allowed / 2)) {
      paused = false
      program?.resume()
    }
  }
}
