import { randomBytes } from 'node:crypto'
import type { SandboxId } from '../../shared/ids.ts'
import { type ExposedPorts, exposedPorts } from './ports/exposedPorts.ts'
import { type PortNames, portNames } from './ports/portNames.ts'
import { portRepository } from './ports/portRepository.ts'
import { type PortTokens, portTokens } from './ports/portTokens.ts'
import { sandboxDomainRepository } from './sandboxDomains/sandboxDomainRepository.ts'
import { type SandboxDomains, sandboxDomains } from './sandboxDomains/sandboxDomains.ts'
import type { ServiceGround } from './serviceGround.ts'

export type PortParts = { names: PortNames; ports: ExposedPorts; tokens: PortTokens; domains: SandboxDomains }

/** The addresses under which others reach what listens in a sandbox. */
export function portParts(
  ground: ServiceGround,
  given: { onChanged: (id: SandboxId) => void; onDomainsChanged: () => void },
): PortParts {
  const { options, database, activity, address } = ground
  const { now, sandboxHost } = options
  const records = portRepository(database)
  const domainRecords = sandboxDomainRepository(database)
  const names = portNames({
    isDomain: (name) => domainRecords.find(name) !== undefined,
    sandboxHost,
    serviceUrl: address.own,
    ownNames: [options.listen.host, ...(address.publicUrl ? [address.publicUrl.hostname] : [])],
  })
  const ports = exposedPorts({
    records,
    urlOf: names.urlOf,
    leadsTo: domainRecords.find,
    onChanged: given.onChanged,
  })
  const domains = sandboxDomains({
    records: domainRecords,
    ports,
    isOwn: names.isOwn,
    sandboxHost,
    serviceUrl: address.own,
    note: activity.note,
    onChanged: given.onDomainsChanged,
    now,
  })
  return { names, ports, tokens: portTokens({ records, now, randomBytes }), domains }
}
