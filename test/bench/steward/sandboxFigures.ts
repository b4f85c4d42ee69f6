import { Config } from '#config/config.ts'
import { createSandbox, deleteSandbox, execInSandbox } from '#shared/contract/sandboxes.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { StewardClient } from '../../support/clients/stewardClient.ts'
import type { Steward } from '../../support/processes/steward.ts'
import { measureEach, type Samples } from '../figures.ts'
import { processorMs, waitUntilSettled } from './processFigures.ts'

export type Measured = { steward: Steward; client: StewardClient }
/** Duration of each try, and the processor time per try of host, service and their helpers. */
export type Worked = { samples: Samples; processorMs: number }

/** Returns a configuration without a warm pool, or undefined if this platform never has one. */
export function withoutWarmPool(): object | undefined {
  const config = { sandboxes: { warm_pool_size: 0 } }
  return Config.safeParse(config).success ? config : undefined
}

type Creating = {
  network?: 'none' | 'internet'
  /** Waits before each try until the host is idle, for example until the next warm sandbox is ready. */
  settle?: boolean
}

/** Creates a sandbox and waits for the result of its first command. Deletion is not timed. */
export async function createToFirstExec(
  { steward, client }: Measured,
  count: number,
  { network = 'none', settle = false }: Creating = {},
): Promise<Worked> {
  const created: SandboxId[] = []
  const samples: number[] = []
  let usedMs = 0
  for (let index = 0; index < count + 1; index++) {
    if (settle) await waitUntilSettled('the host', () => [steward.pids().host])
    const before = processorMs(steward)
    const start = performance.now()
    const { id } = await client.call(createSandbox, { network })
    created.push(id)
    await client.call(execInSandbox, { id, command: 'true' })
    const elapsedMs = performance.now() - start
    // The first sandbox creates resources that later ones share.
    if (index > 0) samples.push(elapsedMs)
    if (index > 0) usedMs += processorMs(steward) - before
  }
  for (const id of created) await client.call(deleteSandbox, { id })
  return { samples, processorMs: usedMs / count }
}

/**
 * Creates sandboxes concurrently and runs the first command in each.
 * @returns the time in ms until the last result, and the processor time per sandbox
 */
export async function burst(
  { steward, client }: Measured,
  count: number,
): Promise<{ lastMs: number; eachProcessorMs: number }> {
  const created: SandboxId[] = []
  const before = processorMs(steward)
  const start = performance.now()
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const { id } = await client.call(createSandbox, { network: 'none' })
      created.push(id)
      const { stdout } = await client.call(execInSandbox, { id, command: `echo ${index}` })
      if (stdout !== `${index}\n`) throw new Error(`Sandbox ${index} of the burst answered ${JSON.stringify(stdout)}.`)
    }),
  )
  const lastMs = performance.now() - start
  const eachProcessorMs = (processorMs(steward) - before) / count
  for (const id of created) await client.call(deleteSandbox, { id })
  return { lastMs, eachProcessorMs }
}

export async function execTrue({ steward, client }: Measured, id: SandboxId, count: number): Promise<Worked> {
  const before = processorMs(steward)
  let calls = 0
  const samples = await measureEach(count, () => {
    calls++
    return client.call(execInSandbox, { id, command: 'true' })
  })
  return { samples, processorMs: (processorMs(steward) - before) / calls }
}
