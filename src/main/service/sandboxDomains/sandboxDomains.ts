import { AppError } from '#shared/appError.ts'
import { maxSandboxDomains, type SandboxDomain } from '#shared/contract/sandboxDomains.ts'
import type { AccountId, SandboxId } from '#shared/ids.ts'
import { toIsoTime } from '#shared/time.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import type { ExposedPorts } from '../ports/exposedPorts.ts'
import type { PortNames } from '../ports/portNames.ts'
import type { DomainClaim, DomainClaimRepository } from './domainClaimRepository.ts'
import { type DomainProof, isReserved } from './domainProof.ts'
import type { SandboxDomainRecord, SandboxDomainRepository } from './sandboxDomainRepository.ts'

export type SandboxDomains = {
  /**
   * Points a domain to the sandbox: immediately if the account is known to own it, otherwise after a DNS record proves
   * the ownership. Adding it again repeats the check.
   * @throws AppError `sandbox-domain/taken`, `sandbox-domain/too-many`, `port/not-found`, `sandbox/not-found`
   */
  add(target: Target, options: { domain: string; port?: number | undefined }): Promise<SandboxDomain>
  /** Lists domains that point to the sandbox, including unverified ones. */
  list(sandboxId: SandboxId): SandboxDomain[]
  /** @throws AppError `sandbox-domain/not-found` */
  remove(sandboxId: SandboxId, domain: string): void
}

export type Target = { sandboxId: SandboxId; accountId: AccountId }

type Options = {
  records: SandboxDomainRepository
  claims: DomainClaimRepository
  ports: Pick<ExposedPorts, 'first' | 'get' | 'isExposed'>
  /** @returns undefined if the sandbox was removed */
  findAccount: (sandboxId: SandboxId) => AccountId | undefined
  isOwn: PortNames['isOwn']
  isOwned: (accountId: AccountId, domain: string) => boolean
  proof: DomainProof
  newToken: () => string
  sandboxHost: string | undefined
  getLocalUrl: (hostName: string) => string
  note: ActivityLog['note']
  onChanged: (sandboxId: SandboxId) => void
  now: () => number
}

/**
 * Manages custom domains that point to a port of a sandbox. Their DNS, or a proxy with their certificate, forwards
 * requests here.
 */
export function createSandboxDomains(options: Options): SandboxDomains {
  const { records, claims, ports, findAccount: accountOf, proof, note, now } = options

  const isExposed = ({ sandboxId, port }: SandboxDomainRecord): boolean =>
    port === null || ports.isExposed(sandboxId, port)
  const toWire = (record: SandboxDomainRecord, claim?: DomainClaim): SandboxDomain => {
    const { domain, sandboxId, port, createdAtMs } = record
    return {
      domain,
      port: port ?? ports.first(sandboxId)?.port ?? null,
      url: options.sandboxHost === undefined ? options.getLocalUrl(domain) : `https://${domain}`,
      dns_target: options.sandboxHost ?? null,
      verified: claim === undefined && isExposed(record),
      verification: claim ? proof.getRecord(claim) : null,
      created_at: toIsoTime(createdAtMs),
    }
  }
  const assertCapacity = (sandboxId: SandboxId): void => {
    if (records.list(sandboxId).length + claims.list(sandboxId).length < maxSandboxDomains) return
    throw new AppError(
      'sandbox-domain/too-many',
      `This sandbox has ${maxSandboxDomains} domains, which is the maximum.`,
    )
  }
  /**
   * Whether a domain needs no proof. With public URLs only the account's own domains need none; on this computer, names
   * of reserved top-level domains need none either.
   */
  const needsNone = (accountId: AccountId, domain: string): boolean =>
    (options.sandboxHost === undefined && isReserved(domain)) || options.isOwned(accountId, domain)

  const led = (record: SandboxDomainRecord): SandboxDomain => {
    const before = records.find(record.domain)
    claims.remove(record.sandboxId, record.domain)
    records.save(record)
    if (before && before.sandboxId !== record.sandboxId) options.onChanged(before.sandboxId)
    options.onChanged(record.sandboxId)
    const target = record.port === null ? 'the first exposed port' : `port ${record.port}`
    note(record.sandboxId, { type: 'domain.added', description: `Added the domain ${record.domain} for ${target}.` })
    return toWire(record)
  }

  return {
    async add({ sandboxId, accountId }, { domain, port = null }) {
      if (port !== null) ports.get(sandboxId, port)
      if (options.isOwn(domain)) throw new AppError('sandbox-domain/taken', `\`${domain}\` belongs to this service.`)
      const before = records.find(domain)
      if (before?.sandboxId === sandboxId) return before.port === port ? toWire(before) : led({ ...before, port })
      const isTheirs = before !== undefined && accountOf(before.sandboxId) !== accountId
      if (before && (!isTheirs || isReserved(domain))) {
        throw new AppError('sandbox-domain/taken', `\`${domain}\` points to another sandbox.`)
      }
      const earlier = claims.find(sandboxId, domain)
      if (!earlier) assertCapacity(sandboxId)
      const record = { domain, sandboxId, port, createdAtMs: earlier?.createdAtMs ?? now() }
      if (needsNone(accountId, domain)) return led(record)

      const claim = { ...record, token: earlier?.token ?? options.newToken() }
      claims.save(claim)
      const isProved = await proof.isProved(claim)
      if (!accountOf(sandboxId)) throw new AppError('sandbox/not-found', 'Sandbox not found or access denied')
      return isProved ? led(record) : toWire(claim, claim)
    },
    list: (sandboxId) =>
      [
        ...records.list(sandboxId).map((record) => toWire(record)),
        ...claims.list(sandboxId).map((claim) => toWire(claim, claim)),
      ].sort((a, b) => (a.domain < b.domain ? -1 : 1)),
    remove(sandboxId, domain) {
      if (claims.find(sandboxId, domain)) return claims.remove(sandboxId, domain)
      if (records.find(domain)?.sandboxId !== sandboxId) {
        throw new AppError('sandbox-domain/not-found', `\`${domain}\` does not point to this sandbox.`)
      }
      records.remove(domain)
      options.onChanged(sandboxId)
      note(sandboxId, { type: 'domain.removed', description: `Removed the domain ${domain}.` })
    },
  }
}
