import { type BubblewrapOptions, createBubblewrapRuntime } from '#host/runtimes/bubblewrap/bubblewrapRuntime.ts'
import type { SandboxRuntime } from '#host/runtimes/sandboxRuntime.ts'
import { silentLog } from '#platform/logging/log.ts'
import { atEndOfFile } from './endOfFile.ts'

/** Creates a runtime that is closed after the tests of the file. */
export function testRuntime(options: Pick<BubblewrapOptions, 'folder'> & Partial<BubblewrapOptions>): SandboxRuntime {
  const runtime = createBubblewrapRuntime({ log: silentLog, now: Date.now, ...options })
  atEndOfFile(() => runtime.close())
  return runtime
}
