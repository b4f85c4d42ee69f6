import { adoptFoundSandbox, deleteFoundSandbox, listFoundSandboxes } from '#shared/contract/foundSandboxes.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { createEndpoint, type Endpoint } from '../base/endpoint.ts'
import type { SandboxRecord } from '../sandboxes/sandboxRepository.ts'
import type { FoundSandboxes } from './foundSandboxes.ts'

export function createFoundSandboxRoutes({
  found,
  toWire,
}: {
  found: FoundSandboxes
  toWire: (record: SandboxRecord) => Promise<Sandbox>
}): Endpoint[] {
  return [
    createEndpoint(listFoundSandboxes, async (_, { caller }) => {
      const sandboxes = caller.owner ? await found.list() : []
      return { sandboxes, data: sandboxes, count: sandboxes.length }
    }),
    createEndpoint(adoptFoundSandbox, async ({ params }, { caller }) =>
      toWire(await found.adopt(params.id, caller.accountId)),
    ),
    createEndpoint(deleteFoundSandbox, async ({ params }, { caller }) => {
      await found.remove(params.id, caller.accountId)
      return { success: true, id: params.id, message: 'Found sandbox deleted.' }
    }),
  ]
}
