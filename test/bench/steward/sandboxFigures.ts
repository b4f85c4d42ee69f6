import { createSandbox, deleteSandbox, execInSandbox } from '../../../src/shared/contract/sandboxes.ts'
import type { SandboxId } from '../../../src/shared/ids.ts'
import type { StewardClient } from '../../support/stewardClient.ts'
import { type Samples, timed } from '../figures.ts'
import { handMadeSandbox } from '../peers/bubblewrapByHand.ts'

/** Create a sandbox and have the result of its first command. Deleting it is not timed. */
export async function createToFirstExec(client: StewardClient, count: number): Promise<Samples> {
  const made: SandboxId[] = []
  const samples = await timed(count, async () => {
    const { id } = await client.call(createSandbox, { network: 'none' })
    made.push(id)
    await client.call(execInSandbox, { id, command: 'true' })
  })
  for (const id of made) await client.call(deleteSandbox, { id })
  return samples
}

export async function createToFirstExecByHand(count: number): Promise<Samples> {
  const made: { close(): Promise<void> }[] = []
  const samples = await timed(count, async () => {
    const sandbox = await handMadeSandbox()
    made.push(sandbox)
    await sandbox.exec('true')
  })
  for (const sandbox of made) await sandbox.close()
  return samples
}

export function execTrue(client: StewardClient, id: SandboxId, count: number): Promise<Samples> {
  return timed(count, () => client.call(execInSandbox, { id, command: 'true' }))
}

export async function execTrueByHand(count: number): Promise<Samples> {
  const sandbox = await handMadeSandbox()
  const samples = await timed(count, () => sandbox.exec('true'))
  await sandbox.close()
  return samples
}
