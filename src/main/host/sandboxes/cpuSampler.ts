import { setTimeout as pause } from 'node:timers/promises'
import type { HostResult } from '#shared/contract/hostIpc.ts'
import type { SandboxInstance, SandboxProcess, SandboxUsage } from '../runtimes/sandboxRuntime.ts'

export type UsageSample = HostResult<'machine.usage'>
export type ProcessSamples = HostResult<'machine.processes'>['processes']

/**
 * Converts CPU time to a share since the previous sample, or over a short interval if there is no previous sample.
 * Concurrent callers share one sample.
 */
export type CpuSampler = {
  sampleUsage(sandbox: SandboxInstance): Promise<UsageSample>
  sampleProcesses(sandbox: SandboxInstance): Promise<ProcessSamples>
}

/** CPU time counters at a point in time. */
type Counters = { atMs: number }
type ProcessCounters = Counters & { processes: readonly SandboxProcess[] }

/** Shorter intervals would expose the granularity of kernel ticks. */
const minIntervalMs = 250
/** Older counters are too stale for a current share. */
const maxAgeMs = 60_000

export function createCpuSampler(): CpuSampler {
  return {
    sampleUsage: createSampler((instance) => instance.usage(), toUsageSample),
    sampleProcesses: createSampler(readProcessCounters, toProcessSamples),
  }
}

function createSampler<C extends Counters, Sample>(
  read: (instance: SandboxInstance) => Promise<C>,
  toSample: (before: C, after: C) => Sample,
): (instance: SandboxInstance) => Promise<Sample> {
  type State = { last: C | undefined; pending: Promise<Sample> | undefined }
  const states = new WeakMap<SandboxInstance, State>()

  const measure = async (instance: SandboxInstance, state: State): Promise<Sample> => {
    const recent = state.last && performance.now() - state.last.atMs < maxAgeMs ? state.last : undefined
    const before = recent ?? (await read(instance))
    await pause(Math.max(0, before.atMs + minIntervalMs - performance.now()))
    const after = await read(instance)
    state.last = after
    return toSample(before, after)
  }

  return (instance) => {
    const state = states.get(instance) ?? { last: undefined, pending: undefined }
    states.set(instance, state)
    state.pending ??= measure(instance, state).finally(() => {
      state.pending = undefined
    })
    return state.pending
  }
}

function toUsageSample(before: SandboxUsage, after: SandboxUsage): UsageSample {
  const { cpuMs, atMs, memoryBytes, diskBytes = null, processes } = after
  return { cpuPercent: toPercent(cpuMs - before.cpuMs, atMs - before.atMs), memoryBytes, diskBytes, processes }
}

async function readProcessCounters(instance: SandboxInstance): Promise<ProcessCounters> {
  return { processes: await instance.processes(), atMs: performance.now() }
}

function toProcessSamples(before: ProcessCounters, after: ProcessCounters): ProcessSamples {
  const toKey = ({ pid, startedAtMs }: SandboxProcess) => `${pid} ${startedAtMs}`
  const cpuMsBefore = new Map(before.processes.map((process) => [toKey(process), process.cpuMs]))
  return after.processes.map((process) => {
    const { cpuMs, ...sample } = process
    const usedMs = cpuMs - (cpuMsBefore.get(toKey(process)) ?? 0)
    return { ...sample, cpuPercent: toPercent(usedMs, after.atMs - before.atMs) }
  })
}

function toPercent(cpuMs: number, durationMs: number): number {
  return Math.max(0, (100 * cpuMs) / durationMs)
}
