import { setTimeout as pause } from 'node:timers/promises'
import type { HostResult } from '#shared/contract/hostIpc.ts'
import type { Machine, MachineUsage } from '../runtimes/sandboxRuntime.ts'

export type UsageReading = HostResult<'machine.usage'>

export type UsageReadings = {
  /** Callers at the same time share one reading. */
  read(machine: Machine): Promise<UsageReading>
}

/** Shorter than this, the kernel's ticks would show. */
const shortestMs = 250
/** A reading that is older tells nothing about now. */
const longestMs = 60_000

type Known = { last: MachineUsage | undefined; reading: Promise<UsageReading> | undefined }

/** Turns counts of processor time into a share: that since the reading before, or over a moment when there is none. */
export function usageReadings(): UsageReadings {
  const known = new WeakMap<Machine, Known>()

  const measure = async (machine: Machine, held: Known): Promise<UsageReading> => {
    const recent = held.last && performance.now() - held.last.atMs < longestMs ? held.last : undefined
    const before = recent ?? (await machine.usage())
    await pause(Math.max(0, before.atMs + shortestMs - performance.now()))
    const usage = await machine.usage()
    held.last = usage
    const cpuPercent = Math.max(0, (100 * (usage.cpuMs - before.cpuMs)) / (usage.atMs - before.atMs))
    const { memoryBytes, diskBytes = null, processes } = usage
    return { cpuPercent, memoryBytes, diskBytes, processes }
  }

  return {
    read(machine) {
      const held = known.get(machine) ?? { last: undefined, reading: undefined }
      known.set(machine, held)
      held.reading ??= measure(machine, held).finally(() => {
        held.reading = undefined
      })
      return held.reading
    },
  }
}
