import { randomBytes } from 'node:crypto'
import type { AccountId, SandboxId } from '#shared/ids.ts'
import { type ExposedPorts, exposedPorts } from '../ports/exposedPorts.ts'
import { createFrameSessions, type FrameSessions } from '../ports/frameSessions.ts'
import { type PortNames, portNames } from '../ports/portNames.ts'
import { portRepository } from '../ports/portRepository.ts'
import { type PortTokens, portTokens } from '../ports/portTokens.ts'
import { domainClaimRepository } from '../sandboxDomains/domainClaimRepository.ts'
import { domainProof } from '../sandboxDomains/domainProof.ts'
import { sandboxDomainRepository } from '../sandboxDomains/sandboxDomainRepository.ts'
import { type SandboxDomains, sandboxDomains } from '../sandboxDomains/sandboxDomains.ts'
import { endpointOf, type ServiceGround } from './serviceGround.ts'

export type PortParts = {
  names: PortNames
  ports: ExposedPorts
  tokens: PortTokens
  frames: FrameSessions
  domains: SandboxDomains
}

/** The addresses under which others reach what listens in a sandbox. */
export function portParts(
  ground: ServiceGround,
  given: {
    onChanged: (id: SandboxId) => void
    onDomainsChanged: () => void
    accountOf: (id: SandboxId) => AccountId | undefined
    ownsDomain: (accountId: AccountId, domain: string) => boolean
  },
): PortParts {
  const { options, database, clock, activity, address, principals } = ground
  const { now, sandboxHost } = options
  const records = portRepository(database)
  const domainRecords = sandboxDomainRepository(database)
  const names = portNames({
    isDomain: (name) => domainRecords.find(name) !== undefined,
    sandboxHost,
    localUrlOf: address.urlOf,
    ownNames: [options.listen.host, ...(address.publicUrl ? [address.publicUrl.hostname] : [])],
  })
  const ports = exposedPorts({
    records,
    urlOf: names.urlOf,
    endpointOf: (url) => (sandboxHost === undefined ? address.endpoint() : endpointOf(url)),
    leadsTo: domainRecords.find,
    onChanged: given.onChanged,
  })
  const domains = sandboxDomains({
    records: domainRecords,
    claims: domainClaimRepository(database),
    ports,
    accountOf: given.accountOf,
    isOwned: given.ownsDomain,
    proof: domainProof(options.resolvers),
    newToken: () => randomBytes(18).toString('base64url'),
    isOwn: names.isOwn,
    sandboxHost,
    localUrlOf: address.urlOf,
    note: activity.note,
    onChanged: (sandboxId) => {
      given.onDomainsChanged()
      given.onChanged(sandboxId)
    },
    now,
  })
  const tokens = portTokens({ records, now: clock.steadyMs, randomBytes })
  const frames = createFrameSessions({ now: clock.steadyMs, randomBytes, isPresent: principals.isPresent })
  const rightsIn = (sandboxId: SandboxId | undefined) => {
    const accountId = sandboxId && given.accountOf(sandboxId)
    return accountId && { accountId }
  }
  principals.add('port-token', (id) => rightsIn(tokens.findSandbox(id)))
  principals.add('frame', (id) => rightsIn(frames.findSandbox(id)))
  return { names, ports, tokens, frames, domains }
}
