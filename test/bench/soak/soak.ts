import { setTimeout as pause } from 'node:timers/promises'
import { listRuntimes } from '#shared/contract/sandboxes.ts'
import { createStewardClient } from '../../support/clients/stewardClient.ts'
import { startSteward } from '../../support/processes/steward.ts'
import { runMixedLoad } from './mixedLoad.ts'
import { type Memory, readMemory } from './processMemory.ts'

type Sample = { operations: number; memory: Record<string, Memory> }

const clients = 3
/** Exceeds the idle timeout of screens and their threads. */
const minQuietMs = 30_000
const kinds = ['pss', 'heap', 'native'] as const

/**
 * Runs a mixed load for `minutes`, then idles for a sixth of that time. Prints the memory growth of each process per
 * operation, excluding a warm-up of a fifth, and its final memory. Steady growth indicates a leak.
 */
export async function soak(minutes: number, print: (line: string) => void): Promise<void> {
  const steward = await startSteward()
  try {
    const client = createStewardClient(steward.serviceUrl, steward.ownerKey)
    await client.call(listRuntimes, {}) // the host responds, so all three processes run
    let operations = 0
    const counting = { ...client, call: countCalls(client.call, () => operations++) }
    const read = (): Sample => {
      const memory: Record<string, Memory> = {}
      for (const [name, pid] of Object.entries(steward.pids())) memory[name] = readMemory(pid)
      print(`${String(operations).padStart(7)} calls: ${describe(memory)}`)
      return { operations, memory }
    }
    const samples = [read()]
    const endMs = performance.now() + minutes * 60_000
    const isOver = () => performance.now() > endMs
    const load = Promise.all(Array.from({ length: clients }, () => runMixedLoad(counting, isOver)))
    let error: unknown
    load.catch((reason: unknown) => {
      error = reason
    })
    while (!isOver() && error === undefined) {
      await pause(Math.min((minutes * 60_000) / 20, Math.max(0, endMs - performance.now())))
      samples.push(read())
    }
    await load
    print('quiet:')
    await pause(Math.max(minQuietMs, (minutes * 60_000) / 6))
    const last = read()
    const warm = samples.slice(Math.ceil(samples.length / 5))
    for (const name of Object.keys(last.memory)) {
      const slopes = kinds.map((kind) => `${kind} ${computeSlope(warm, name, kind).toFixed(2)}`)
      print(`${name}: MB per 1,000 calls: ${slopes.join(', ')}`)
    }
  } finally {
    await steward.close()
  }
}

function countCalls<F extends (...input: never[]) => unknown>(call: F, count: () => void): F {
  return ((...input: Parameters<F>) => {
    count()
    return call(...input)
  }) as F // same arguments and result
}

function describe(memory: Record<string, Memory>): string {
  return Object.entries(memory)
    .map(([name, { pss, heap, native }]) => `${name} ${pss.toFixed(0)} (${heap.toFixed(0)}+${native.toFixed(0)})`)
    .join(', ')
}

/** Returns the least-squares slope in MB per 1,000 operations. */
function computeSlope(samples: readonly Sample[], name: string, kind: (typeof kinds)[number]): number {
  const points = samples.map(({ operations, memory }) => ({ x: operations / 1_000, y: memory[name]?.[kind] ?? 0 }))
  const computeMean = (values: number[]) =>
    values.reduce((total, value) => total + value, 0) / Math.max(1, values.length)
  const [x, y] = [computeMean(points.map((point) => point.x)), computeMean(points.map((point) => point.y))]
  const spread = points.reduce((total, point) => total + (point.x - x) ** 2, 0)
  const common = points.reduce((total, point) => total + (point.x - x) * (point.y - y), 0)
  return spread === 0 ? 0 : common / spread
}
