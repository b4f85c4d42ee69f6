import { setTimeout as pause } from 'node:timers/promises'
import type { HostResult } from '#shared/contract/hostIpc.ts'
import type { SandboxInstance, SandboxUsage } from '../runtimes/sandboxRuntime.ts'

export type UsageReading = HostResult<'machine.usage'>

export type UsageReadings = {
  /** Concurrent callers share one reading. */
  read(sandbox: SandboxInstance): Promise<UsageReading>
}

/** Shorter intervals would expose the granularity of kernel ticks. */
const minMs = 250
/** Older readings are too stale for a current share. */
const maxMs = 60_000

type MeterState = { last: SandboxUsage | undefined; reading: Promise<UsageReading> | undefined }

/**
 * Converts CPU time counters to a share since the previous reading, or over a short interval if there is no previous
 * reading.
 */
export function createUsageReadings(): UsageReadings {
  const states = new WeakMap<SandboxInstance, MeterState>()

  const measure = async (instance: SandboxInstance, state: MeterState): Promise<UsageReading> => {
    const recent = state.last && performance.now() - state.last.atMs < maxMs ? state.last : undefined
    const before = recent ?? (await instance.usage())
    await pause(Math.max(0, before.atMs + minMs - performance.now()))
    const usage = await instance.usage()
    state.last = usage
    const cpuPercent = Math.max(0, (100 * (usage.cpuMs - before.cpuMs)) / (usage.atMs - before.atMs))
    const { memoryBytes, diskBytes = null, processes } = usage
    return { cpuPercent, memoryBytes, diskBytes, processes }
  }

  return {
    read(machine) {
      const state = states.get(machine) ?? { last: undefined, reading: undefined }
      states.set(machine, state)
      state.reading ??= measure(machine, state).finally(() => {
        state.reading = undefined
      })
      return state.reading
    },
  }
}
