import { randomBytes } from 'node:crypto'
import { readFile, uploadFile } from '#shared/contract/files.ts'
import { createSandbox, deleteSandbox, execInSandbox } from '#shared/contract/sandboxes.ts'
import { closeTerminal, createTerminal, readTerminal, writeTerminal } from '#shared/contract/terminals.ts'
import type { SandboxId } from '#shared/ids.ts'
import { until } from '../../support/assertions/eventually.ts'
import type { StewardClient } from '../../support/clients/stewardClient.ts'

/**
 * Runs operations of one client on one sandbox sequentially until `isOver` returns true.
 * @returns the number of operations
 */
export async function runMixedLoad(client: StewardClient, isOver: () => boolean): Promise<number> {
  let count = 0
  while (!isOver()) {
    const { id } = await client.call(createSandbox, { network: 'none' })
    count += 1
    for (let round = 0; round < 5 && !isOver(); round += 1) {
      for (const operation of operations) {
        await operation(client, id)
        count += 1
      }
    }
    await client.call(deleteSandbox, { id })
    count += 1
  }
  return count
}

type Operation = (client: StewardClient, id: SandboxId) => Promise<unknown>

const operations: readonly Operation[] = [
  (client, id) => client.call(execInSandbox, { id, command: 'true' }),
  (client, id) => client.call(execInSandbox, { id, command: 'head -c 500000 /dev/urandom | base64' }),
  (client, id) => client.call(execInSandbox, { id, command: 'echo again' }),
  async (client, id) => {
    const content = randomBytes(100_000).toString('hex')
    await client.call(uploadFile, { id, path: '/root/file', content })
    await client.call(readFile, { id, path: '/root/file' })
  },
  async (client, id) => {
    const { session_id: sessionId } = await client.call(createTerminal, {
      id,
      command: 'read -r; seq 300000; echo end',
    })
    const stream = await client.attach(id, sessionId)
    await client.call(writeTerminal, { id, sessionId, input: '\n' })
    await until('the end of the output', async () =>
      (await client.call(readTerminal, { id, sessionId })).output.includes('end'),
    )
    await client.call(readTerminal, { id, sessionId, full: true })
    await client.call(readTerminal, { id, sessionId, since: 0 })
    stream.close()
    await client.call(closeTerminal, { id, sessionId })
  },
]
