import { getMetrics } from '#shared/contract/metrics.ts'
import { toIsoTime } from '#shared/time.ts'
import { createEndpoint, type Endpoint } from '../base/endpoint.ts'
import type { HostCall } from '../host/hostCalls.ts'
import type { SandboxRegistry } from '../sandboxes/sandboxRegistry.ts'

const megabyte = 1024 * 1024

export function createMetricsRoutes({
  sandboxes,
  call,
  now,
}: {
  sandboxes: Pick<SandboxRegistry, 'running'>
  call: HostCall
  now: () => number
}): Endpoint[] {
  return [
    createEndpoint(getMetrics, async ({ params }, { caller, signal }) => {
      const { id: sandboxId, memoryMb, diskGb, startedAtMs } = await sandboxes.running(caller, params.id)
      const { result } = await call('machine.usage', { sandboxId }, { signal })
      const atMs = now()
      return {
        cpu_percent: roundValue(result.cpuPercent),
        memory_used_mb: roundValue(result.memoryBytes / megabyte),
        memory_limit_mb: memoryMb,
        disk_used_mb: result.diskBytes === null ? null : roundValue(result.diskBytes / megabyte),
        disk_limit_mb: diskGb * 1024,
        processes: result.processes,
        uptime_seconds: Math.max(0, atMs - (startedAtMs ?? atMs)) / 1000,
        at: toIsoTime(atMs),
      }
    }),
  ]
}

/** One decimal place matches the precision of these values. */
function roundValue(value: number): number {
  return Math.round(value * 10) / 10
}
