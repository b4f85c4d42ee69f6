import { setTimeout as pause } from 'node:timers/promises'
import type { HostResult } from '#shared/contract/hostIpc.ts'
import type { SandboxInstance, SandboxProcess } from '../runtimes/sandboxRuntime.ts'

export type ProcessReading = HostResult<'machine.processes'>['processes']
type Count = { atMs: number; processes: readonly SandboxProcess[] }

/** Shorter intervals would expose the granularity of kernel ticks. */
const minMs = 250
/** Older counts are too stale for a current share. */
const maxMs = 60_000

/**
 * Converts the CPU time of each process to a share since the previous reading, or over a short interval if there is no
 * previous reading.
 */
export function createProcessReadings(): { read(sandbox: SandboxInstance): Promise<ProcessReading> } {
  const states = new WeakMap<SandboxInstance, { last?: Count; reading?: Promise<ProcessReading> | undefined }>()
  const count = async (instance: SandboxInstance): Promise<Count> => ({
    processes: await instance.processes(),
    atMs: performance.now(),
  })

  const measure = async (
    machine: SandboxInstance,
    last: Count | undefined,
  ): Promise<{ count: Count; read: ProcessReading }> => {
    const recent = last && performance.now() - last.atMs < maxMs ? last : undefined
    const before = recent ?? (await count(machine))
    await pause(Math.max(0, before.atMs + minMs - performance.now()))
    const after = await count(machine)
    return { count: after, read: computeShares(before, after) }
  }

  return {
    read(machine) {
      const state = states.get(machine) ?? {}
      states.set(machine, state)
      state.reading ??= measure(machine, state.last)
        .then(({ count: newest, read }) => {
          state.last = newest
          return read
        })
        .finally(() => {
          state.reading = undefined
        })
      return state.reading
    },
  }
}

function computeShares(before: Count, after: Count): ProcessReading {
  const earlier = new Map(before.processes.map((process) => [`${process.pid} ${process.startedAtMs}`, process.cpuMs]))
  const passedMs = after.atMs - before.atMs
  return after.processes.map(({ cpuMs, ...process }) => {
    const usedMs = cpuMs - (earlier.get(`${process.pid} ${process.startedAtMs}`) ?? 0)
    return { ...process, cpuPercent: Math.max(0, (100 * usedMs) / passedMs) }
  })
}
