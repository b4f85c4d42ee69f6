import { beforeEach, expect, test, vi } from 'vitest'
import type { SandboxInstance, SandboxProcess } from '../runtimes/sandboxRuntime.ts'
import { createCpuSampler } from './cpuSampler.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'Date'] })
  return () => void vi.useRealTimers()
})

/** Sandbox whose counters advance `stepMs` with each read, in which it uses `cpuMs` of CPU time. */
function createSandbox({ stepMs, cpuMs }: { stepMs: number; cpuMs: number }) {
  let total = 0
  let reads = 0
  const advance = (): number => {
    vi.advanceTimersByTime(stepMs)
    reads++
    total += cpuMs
    return total
  }
  const process = (pid: number, cpu: number): SandboxProcess => {
    return { pid, ppid: 0, user: 'root', memoryBytes: 1, command: 'sh', startedAtMs: pid, cpuMs: cpu }
  }
  const instance = {
    usage: async () => ({ cpuMs: advance(), atMs: performance.now(), memoryBytes: 7, processes: 1 }),
    // The second process starts after the first read.
    processes: async () => [process(1, advance()), ...(reads > 1 ? [process(2, 100)] : [])],
  } as Partial<SandboxInstance> as SandboxInstance
  return { instance, reads: () => reads }
}

test('measures the first share of CPU time over a short interval', async () => {
  const { instance, reads } = createSandbox({ stepMs: 1_000, cpuMs: 500 })
  const sample = await createCpuSampler().sampleUsage(instance)
  expect(sample).toEqual({ cpuPercent: 50, memoryBytes: 7, diskBytes: null, processes: 1 })
  expect(reads()).toBe(2)
})

test('measures later shares since the previous sample, unless it is stale', async () => {
  const { instance, reads } = createSandbox({ stepMs: 1_000, cpuMs: 500 })
  const sampler = createCpuSampler()
  await sampler.sampleUsage(instance)
  vi.advanceTimersByTime(4_000)
  expect(await sampler.sampleUsage(instance)).toMatchObject({ cpuPercent: 10 })
  expect(reads()).toBe(3)
  vi.advanceTimersByTime(60_000)
  expect(await sampler.sampleUsage(instance)).toMatchObject({ cpuPercent: 50 })
  expect(reads()).toBe(5)
})

test('concurrent callers share one sample', async () => {
  const { instance, reads } = createSandbox({ stepMs: 1_000, cpuMs: 500 })
  const sampler = createCpuSampler()
  const [first, second] = await Promise.all([sampler.sampleUsage(instance), sampler.sampleUsage(instance)])
  expect(second).toBe(first)
  expect(reads()).toBe(2)
})

test('measures the share of each process, also of one that started since', async () => {
  const { instance } = createSandbox({ stepMs: 1_000, cpuMs: 250 })
  const samples = await createCpuSampler().sampleProcesses(instance)
  expect(samples.map(({ pid, cpuPercent }) => [pid, cpuPercent])).toEqual([
    [1, 25],
    [2, 10],
  ])
  expect(samples[0]).not.toHaveProperty('cpuMs')
})

test('samples again after a failed read', async () => {
  const { instance } = createSandbox({ stepMs: 1_000, cpuMs: 500 })
  const { usage } = instance
  const sampler = createCpuSampler()
  instance.usage = () => Promise.reject(new Error('no such sandbox'))
  await expect(sampler.sampleUsage(instance)).rejects.toThrow('no such sandbox')
  instance.usage = usage
  expect(await sampler.sampleUsage(instance)).toMatchObject({ cpuPercent: 50 })
})
