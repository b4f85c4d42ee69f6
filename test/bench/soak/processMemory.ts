import { readFileSync } from 'node:fs'

/** Proportional memory of a process in MB: total, pages of the V8 heaps of all threads, and other anonymous memory. */
export type Memory = { pss: number; heap: number; native: number }

/** V8 allocates its heaps in pages of 256 KiB. Large objects have separate regions. */
const heapPageBytes = 256 * 1024
const largestHeapRegion = 2 * 1024 * 1024

export function readMemory(pid: number): Memory {
  const memory: Memory = { pss: readPssMegabytes(pid), heap: 0, native: 0 }
  let kind: 'heap' | 'native' | undefined
  for (const line of readFileSync(`/proc/${pid}/smaps`, 'utf8').split('\n')) {
    const region = /^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \d+\s*(\S*)/.exec(line)
    if (region) kind = classifyMapping(region[1] ?? '', region[2] ?? '', region[3] ?? '')
    const [, kilobytes] = /^Pss:\s+(\d+) kB/.exec(line) ?? []
    if (kilobytes !== undefined && kind !== undefined) memory[kind] += Number(kilobytes) / 1_000
  }
  return memory
}

function classifyMapping(from: string, to: string, file: string): 'heap' | 'native' | undefined {
  if (file !== '' && !file.startsWith('[heap')) return undefined
  const [start, end] = [Number.parseInt(from, 16), Number.parseInt(to, 16)]
  const isHeap = file === '' && start % heapPageBytes === 0 && end - start <= largestHeapRegion
  return isHeap ? 'heap' : 'native'
}

function readPssMegabytes(pid: number): number {
  const [, kilobytes = '0'] = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? []
  return Number(kilobytes) / 1_000
}
