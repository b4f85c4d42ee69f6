import type { MachineSpec } from '#shared/contract/hostIpc.ts'
import type { Enforced } from '#shared/contract/sandboxes.ts'
import { maxProcesses } from './containerSettings.ts'

/** Returns the limits that the engine enforces, except those that the container's own cgroup contradicts. */
export function probeEnforced(
  promised: Enforced,
  hello: ReadonlyMap<string, string>,
  { memoryMb }: MachineSpec,
): Enforced {
  const within = (text: string | undefined, max: number): boolean => {
    const value = text?.split(' ')[0] ?? ''
    if (value === '') return true
    return value !== 'max' && Number(value) > 0 && Number(value) <= max
  }
  const quota = hello.get('cpu')?.split(' ')[0] ?? ''
  return {
    memory: promised.memory && within(hello.get('memory'), memoryMb * 1024 * 1024),
    cpu: promised.cpu && quota !== 'max' && quota !== '-1',
    processes: promised.processes && within(hello.get('processes'), maxProcesses),
    disk: promised.disk,
  }
}
