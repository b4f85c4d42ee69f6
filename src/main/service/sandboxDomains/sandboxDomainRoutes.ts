import { addSandboxDomain, listSandboxDomains, removeSandboxDomain } from '#shared/contract/sandboxDomains.ts'
import { createEndpoint, type Endpoint } from '../base/endpoint.ts'
import type { SandboxRegistry } from '../sandboxes/sandboxRegistry.ts'
import type { SandboxDomains } from './sandboxDomains.ts'

export function createSandboxDomainRoutes(options: {
  sandboxes: Pick<SandboxRegistry, 'requireOwned'>
  domains: SandboxDomains
}): Endpoint[] {
  const { sandboxes, domains } = options
  return [
    createEndpoint(addSandboxDomain, async ({ params, body }, { caller }) => {
      const { id: sandboxId, accountId } = await sandboxes.requireOwned(caller, params.id)
      return { success: true, ...(await domains.add({ sandboxId, accountId }, body)) }
    }),
    createEndpoint(listSandboxDomains, async ({ params }, { caller }) => {
      return { domains: await domains.list((await sandboxes.requireOwned(caller, params.id)).id) }
    }),
    createEndpoint(removeSandboxDomain, async ({ params }, { caller }) => {
      await domains.remove((await sandboxes.requireOwned(caller, params.id)).id, params.domain)
      return { success: true, domain: params.domain, message: `${params.domain} no longer points to this sandbox.` }
    }),
  ]
}
