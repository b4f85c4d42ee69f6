import { afterAll } from 'vitest'
import { type BubblewrapOptions, bubblewrapRuntime } from '../../src/main/host/runtimes/bubblewrap/bubblewrapRuntime.ts'
import type { SandboxRuntime } from '../../src/main/host/runtimes/sandboxRuntime.ts'
import { silentLog } from '../../src/main/platform/log.ts'

const made = new Set<SandboxRuntime>()

// Registered before the hooks of a test file, so it runs after them.
afterAll(async () => {
  for (const runtime of made) await runtime.close()
})

/** One that is closed after the tests of the file. */
export function testRuntime(options: Pick<BubblewrapOptions, 'folder'> & Partial<BubblewrapOptions>): SandboxRuntime {
  const runtime = bubblewrapRuntime({ log: silentLog, now: Date.now, ...options })
  made.add(runtime)
  return runtime
}
