import { listListeningPorts } from '#shared/contract/ports.ts'
import { listProcesses, signalProcess } from '#shared/contract/processes.ts'
import { toIsoTime } from '#shared/time.ts'
import { createEndpoint, type Endpoint } from '../base/endpoint.ts'
import type { HostCall } from '../host/hostCalls.ts'
import type { SandboxRegistry } from '../sandboxes/sandboxRegistry.ts'

/** Creates the endpoints for processes in a sandbox, as reported by the sandbox. */
export function createProcessRoutes({
  sandboxes,
  call,
}: {
  sandboxes: Pick<SandboxRegistry, 'running'>
  call: HostCall
}): Endpoint[] {
  return [
    createEndpoint(listProcesses, async ({ params }, { caller, signal }) => {
      const { id: sandboxId } = await sandboxes.running(caller, params.id)
      const { result } = await call('machine.processes', { sandboxId }, { signal })
      const processes = result.processes.map(({ pid, ppid, user, cpuPercent, memoryBytes, command, startedAtMs }) => ({
        pid,
        ppid,
        user,
        cpu_percent: roundValue(cpuPercent),
        memory_mb: roundValue(memoryBytes / (1024 * 1024)),
        command,
        started_at: toIsoTime(startedAtMs),
      }))
      return { processes: processes.sort((a, b) => a.pid - b.pid) }
    }),
    createEndpoint(signalProcess, async ({ params: { id, pid }, body }, { caller, signal }) => {
      const { id: sandboxId } = await sandboxes.running(caller, id)
      await call('machine.signal', { sandboxId, pid, signal: body.signal }, { signal })
      return { success: true, message: `Sent ${body.signal} to process ${pid}.` }
    }),
    createEndpoint(listListeningPorts, async ({ params }, { caller, signal }) => {
      const { id: sandboxId } = await sandboxes.running(caller, params.id)
      return (await call('machine.listening', { sandboxId }, { signal })).result
    }),
  ]
}

/** One decimal place matches the precision of these values. */
function roundValue(value: number): number {
  return Math.round(value * 10) / 10
}
