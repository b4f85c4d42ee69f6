import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'

/** The clocks of this computer, in milliseconds. */
export type TimeSource = {
  wallMs(): number
  /** Excludes sleep on Linux. May include it on other systems. */
  runningMs(): number
  /** Time since boot, including sleep. */
  uptimeMs(): number
  bootId: string | undefined
}

export function createTimeSource(): TimeSource {
  // performance.now() starts with the process, the clock below at boot.
  const startMs = Number(process.hrtime.bigint() / 1_000n) / 1_000 - performance.now()
  return {
    wallMs: () => Date.now(),
    runningMs: () => startMs + performance.now(),
    uptimeMs: () => uptime() * 1_000,
    bootId: readBootId(),
  }
}

/** Returns undefined on systems without a boot id. */
function readBootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}
