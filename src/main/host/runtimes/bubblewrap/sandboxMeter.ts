import { readFile } from 'node:fs/promises'
import type { SandboxUsage } from '../sandboxRuntime.ts'
import { readProcess } from './processTable.ts'
import { listMembers, readFirst, type SandboxProcesses } from './sandboxMembers.ts'

type MeterOptions = { machine: SandboxProcesses; diskBytes: () => Promise<number | undefined> }

/** USER_HZ, which is 100 on every supported architecture. See time(7). */
const msPerTick = 10

/**
 * Creates a meter for one sandbox. Reads its cgroups of either version, and /proc for metrics that they do not provide.
 */
export function createSandboxMeter({ machine: sandbox, diskBytes }: MeterOptions): () => Promise<SandboxUsage> {
  const { cgroups } = sandbox
  const cpuOfProcesses = processCpu()
  return async () => {
    const disk = diskBytes()
    const members = await listMembers(sandbox)
    const cpuMs = (await readCgroupCpuMs(cgroups)) ?? (await cpuOfProcesses(members))
    const atMs = performance.now()
    const memoryBytes = (await readCgroupMemory(cgroups)) ?? (await readProcessMemory(members))
    return { cpuMs, atMs, memoryBytes, processes: members.length, diskBytes: await disk }
  }
}

async function readCgroupCpuMs(cgroups: readonly string[]): Promise<number | undefined> {
  const unified = findNumber('usage_usec', await readFirst(cgroups, ['cpu.stat']))
  if (unified !== undefined) return unified / 1e3
  const separate = await readFirst(cgroups, ['cpuacct.usage'])
  return separate === undefined ? undefined : Number(separate) / 1e6
}

/** Returns the memory usage without reclaimable file pages, in bytes. */
async function readCgroupMemory(cgroups: readonly string[]): Promise<number | undefined> {
  const used = await readFirst(cgroups, ['memory.current', 'memory.usage_in_bytes'])
  if (used === undefined) return undefined
  const stat = await readFirst(cgroups, ['memory.stat'])
  const idle = findNumber('total_inactive_file', stat) ?? findNumber('inactive_file', stat) ?? 0
  return Math.max(0, Number(used) - idle)
}

/**
 * Accumulates the CPU time of every process over its lifetime, so that the sum never decreases when a process exits.
 */
function processCpu(): (pids: readonly number[]) => Promise<number> {
  let totalTicks = 0
  let previousUsage = new Map<string, number>()
  return async (pids) => {
    const present = new Map<string, number>()
    for (const row of await Promise.all(pids.map(readProcess))) {
      if (!row) continue
      const mark = `${row.pid} ${row.startedTicks}`
      const before = previousUsage.get(mark) ?? 0
      totalTicks += Math.max(0, row.cpuTicks - before)
      present.set(mark, Math.max(before, row.cpuTicks))
    }
    previousUsage = present
    return totalTicks * msPerTick
  }
}

async function readProcessMemory(pids: readonly number[]): Promise<number> {
  const texts = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/status`, 'latin1').catch(() => '')))
  const kilobytes = texts.map((text) => (findNumber('RssAnon:', text) ?? 0) + (findNumber('RssShmem:', text) ?? 0))
  return kilobytes.reduce((sum, each) => sum + each, 0) * 1024
}

/** Parses a line `NAME NUMBER …`. */
function findNumber(name: string, text: string | undefined): number | undefined {
  const line = text?.split('\n').find((row) => row.startsWith(name) && /\s/.test(row.charAt(name.length)))
  return line === undefined ? undefined : Number.parseInt(line.slice(name.length), 10)
}
