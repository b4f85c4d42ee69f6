import { listListeningPorts } from '#shared/contract/ports.ts'
import { listProcesses, signalProcess } from '#shared/contract/processes.ts'
import { isoTime } from '#shared/time.ts'
import { type Endpoint, endpoint } from '../base/endpoint.ts'
import type { HostCall } from '../host/hostCalls.ts'
import type { SandboxRegistry } from '../sandboxes/sandboxRegistry.ts'

/** What runs in a sandbox, as its machine tells. */
export function processRoutes({
  sandboxes,
  call,
}: {
  sandboxes: Pick<SandboxRegistry, 'running'>
  call: HostCall
}): Endpoint[] {
  return [
    endpoint(listProcesses, async ({ params }, { caller, signal }) => {
      const { id: sandboxId } = sandboxes.running(caller, params.id)
      const { result } = await call('machine.processes', { sandboxId }, { signal })
      const processes = result.processes.map(({ pid, ppid, user, cpuPercent, memoryBytes, command, startedAtMs }) => ({
        pid,
        ppid,
        user,
        cpu_percent: rounded(cpuPercent),
        memory_mb: rounded(memoryBytes / (1024 * 1024)),
        command,
        started_at: isoTime(startedAtMs),
      }))
      return { processes: processes.sort((one, other) => one.pid - other.pid) }
    }),
    endpoint(signalProcess, async ({ params: { id, pid }, body }, { caller, signal }) => {
      const { id: sandboxId } = sandboxes.running(caller, id)
      await call('machine.signal', { sandboxId, pid, signal: body.signal }, { signal })
      return { success: true, message: `${body.signal} was sent to process ${pid}.` }
    }),
    endpoint(listListeningPorts, async ({ params }, { caller, signal }) => {
      const { id: sandboxId } = sandboxes.running(caller, params.id)
      return (await call('machine.listening', { sandboxId }, { signal })).result
    }),
  ]
}

/** One digit after the point is as much as these numbers are worth. */
function rounded(value: number): number {
  return Math.round(value * 10) / 10
}
