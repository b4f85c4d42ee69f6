import { randomBytes } from 'node:crypto'
import type { AccountId, SandboxId } from '#shared/ids.ts'
import type { Query } from '#storage/store.ts'
import { createExposedPorts, type ExposedPorts } from '../ports/exposedPorts.ts'
import { createFrameSessions, type FrameSessions } from '../ports/frameSessions.ts'
import { createPortNames, type PortNames } from '../ports/portNames.ts'
import { createPortTokens, type PortTokens } from '../ports/portTokens.ts'
import { createDomainProof } from '../sandboxDomains/domainProof.ts'
import { sandboxDomainRepository } from '../sandboxDomains/sandboxDomainRepository.ts'
import { createSandboxDomains, type SandboxDomains } from '../sandboxDomains/sandboxDomains.ts'
import { type ServiceContext, toEndpoint } from './serviceContext.ts'

export type PortModule = {
  names: PortNames
  ports: ExposedPorts
  tokens: PortTokens
  frames: FrameSessions
  domains: SandboxDomains
}

/** Composes the public addresses of ports in sandboxes. */
export function composePorts(
  context: ServiceContext,
  dependencies: {
    onChanged: (id: SandboxId) => void
    onDomainsChanged: () => void
    findAccount: (id: SandboxId) => Promise<AccountId | undefined>
    ownsDomain: (query: Query, accountId: AccountId, domain: string) => Promise<boolean>
  },
): PortModule {
  const { options, store, clock, activity, address, principals } = context
  const { now, sandboxHost } = options
  const findDomain = (domain: string) => sandboxDomainRepository.find(store.read, domain)
  const names = createPortNames({
    isDomain: async (name) => (await findDomain(name)) !== undefined,
    sandboxHost,
    getLocalUrl: address.getUrl,
    ownNames: [options.listen.host, ...(address.publicUrl ? [address.publicUrl.hostname] : [])],
  })
  const ports = createExposedPorts({
    store,
    urlOf: names.getUrl,
    toEndpoint: (url) => (sandboxHost === undefined ? address.endpoint() : toEndpoint(url)),
    findTarget: findDomain,
    onChanged: dependencies.onChanged,
  })
  const domains = createSandboxDomains({
    store,
    ports,
    isOwned: dependencies.ownsDomain,
    proof: createDomainProof(options.resolvers),
    newToken: () => randomBytes(18).toString('base64url'),
    isOwn: names.isOwn,
    sandboxHost,
    getLocalUrl: address.getUrl,
    note: activity.note,
    onChanged: (sandboxId) => {
      dependencies.onDomainsChanged()
      dependencies.onChanged(sandboxId)
    },
    now,
  })
  const tokens = createPortTokens({ store, now: clock.steadyMs, randomBytes })
  const frames = createFrameSessions({ now: clock.steadyMs, randomBytes, isPresent: principals.isPresent })
  const rightsIn = async (sandboxId: SandboxId | undefined) => {
    const accountId = sandboxId && (await dependencies.findAccount(sandboxId))
    return accountId && { accountId }
  }
  principals.add('port-token', async (id, query) => rightsIn(await tokens.findSandbox(id, query)))
  principals.add('frame', async (id) => rightsIn(await frames.findSandbox(id)))
  return { names, ports, tokens, frames, domains }
}
