import { AppError } from '../../../shared/appError.ts'
import { maxSandboxDomains, type SandboxDomain } from '../../../shared/contract/sandboxDomains.ts'
import type { SandboxId } from '../../../shared/ids.ts'
import { isoTime } from '../../../shared/time.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import type { ExposedPorts } from '../ports/exposedPorts.ts'
import type { PortNames } from '../ports/portNames.ts'
import type { SandboxDomainRecord, SandboxDomainRepository } from './sandboxDomainRepository.ts'

export type SandboxDomains = {
  /** @throws AppError `sandbox-domain/taken`, `sandbox-domain/too-many`, `port/not-found` */
  add(sandboxId: SandboxId, wanted: { domain: string; port?: number | undefined }): SandboxDomain
  list(sandboxId: SandboxId): SandboxDomain[]
  /** @throws AppError `sandbox-domain/not-found` */
  remove(sandboxId: SandboxId, domain: string): void
}

type Options = {
  records: SandboxDomainRepository
  ports: Pick<ExposedPorts, 'first' | 'get'>
  /** Whether a name belongs to the service or its port addresses. */
  isOwn: PortNames['isOwn']
  sandboxHost: string | undefined
  serviceUrl: () => string
  note: ActivityLog['note']
  /** A domain was added, changed or removed. */
  onChanged: () => void
  now: () => number
}

/** Custom domains that lead to a port of a sandbox. Their DNS, and a proxy with their certificate, point here. */
export function sandboxDomains(options: Options): SandboxDomains {
  const { records, ports, note, now } = options

  const toWire = ({ domain, sandboxId, port, createdAtMs }: SandboxDomainRecord): SandboxDomain => {
    const service = new URL(options.serviceUrl())
    const local = `${service.protocol}//${domain}${service.port === '' ? '' : `:${service.port}`}`
    return {
      domain,
      port: port ?? ports.first(sandboxId)?.port ?? null,
      url: options.sandboxHost === undefined ? local : `https://${domain}`,
      dns_target: options.sandboxHost ?? null,
      created_at: isoTime(createdAtMs),
    }
  }

  return {
    add(sandboxId, { domain, port = null }) {
      if (port !== null) ports.get(sandboxId, port)
      if (options.isOwn(domain)) throw new AppError('sandbox-domain/taken', `\`${domain}\` is a name of this service.`)
      const before = records.find(domain)
      if (before && before.sandboxId !== sandboxId) {
        throw new AppError('sandbox-domain/taken', `\`${domain}\` leads to another sandbox.`)
      }
      if (!before && records.list(sandboxId).length >= maxSandboxDomains) {
        throw new AppError('sandbox-domain/too-many', `${maxSandboxDomains} domains already lead to this sandbox.`)
      }
      const record = { domain, sandboxId, port, createdAtMs: before?.createdAtMs ?? now() }
      if (!before || before.port !== port) {
        records.save(record)
        options.onChanged()
        const target = port === null ? 'the first exposed port' : `port ${port}`
        note(sandboxId, { type: 'domain.added', description: `Added the domain ${domain} for ${target}.` })
      }
      return toWire(record)
    },
    list: (sandboxId) => records.list(sandboxId).map(toWire),
    remove(sandboxId, domain) {
      if (records.find(domain)?.sandboxId !== sandboxId) {
        throw new AppError('sandbox-domain/not-found', `\`${domain}\` does not lead to this sandbox.`)
      }
      records.remove(domain)
      options.onChanged()
      note(sandboxId, { type: 'domain.removed', description: `Removed the domain ${domain}.` })
    },
  }
}
