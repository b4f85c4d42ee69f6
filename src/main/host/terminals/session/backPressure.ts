import type { SandboxTerminal } from '../../runtimes/sandboxRuntime.ts'

/** Consumer of output, with its lag and the maximum lag before the program is paused, in bytes. */
export type Consumer = { lag: number; allowed: number }

/**
 * Pauses a program while a consumer lags too far behind. Resumes it when all consumers have reduced their lag to half
 * of the limit.
 */
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
