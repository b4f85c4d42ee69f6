import { AppError } from '#shared/appError.ts'
import { maxSandboxDomains, type SandboxDomain } from '#shared/contract/sandboxDomains.ts'
import type { AccountId, SandboxId } from '#shared/ids.ts'
import { toIsoTime } from '#shared/time.ts'
import type { Query, Store, Transaction } from '#storage/store.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import type { PortNames } from '../ports/portNames.ts'
import type { PortRecord } from '../ports/portRepository.ts'
import { type DomainClaim, domainClaimRepository } from './domainClaimRepository.ts'
import { type DomainProof, isReserved } from './domainProof.ts'
import { type SandboxDomainRecord, sandboxDomainRepository } from './sandboxDomainRepository.ts'

export type SandboxDomains = {
  /**
   * Points a domain to the sandbox: immediately if the account is known to own it, otherwise after a DNS record proves
   * the ownership. Adding it again repeats the check.
   * @throws AppError `sandbox-domain/taken`, `sandbox-domain/too-many`, `sandbox-domain/not-found` if it was removed
   * during the check, `port/not-found`, `sandbox/not-found`
   */
  add(target: Target, options: { domain: string; port?: number | undefined }): Promise<SandboxDomain>
  /** Lists domains that point to the sandbox, including unverified ones. */
  list(sandboxId: SandboxId): Promise<SandboxDomain[]>
  /** @throws AppError `sandbox-domain/not-found` */
  remove(sandboxId: SandboxId, domain: string): Promise<void>
}

export type Target = { sandboxId: SandboxId; accountId: AccountId }

export type SandboxPorts = {
  find(query: Query, sandboxId: SandboxId, port: number): Promise<PortRecord | undefined>
  /** @throws AppError `port/not-found` */
  get(query: Query, sandboxId: SandboxId, port: number): Promise<PortRecord>
  /** Returns the port that was exposed earliest among those still exposed. */
  findFirst(query: Query, sandboxId: SandboxId): Promise<PortRecord | undefined>
}

type Options = {
  store: Store
  ports: SandboxPorts
  isOwn: PortNames['isOwn']
  isOwned: (query: Query, accountId: AccountId, domain: string) => Promise<boolean>
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
  const { store, ports, proof, note, now } = options
  const [records, claims] = [sandboxDomainRepository, domainClaimRepository]

  const toWire = async (query: Query, record: SandboxDomainRecord, claim?: DomainClaim): Promise<SandboxDomain> => {
    const { domain, sandboxId, port, createdAtMs } = record
    const target = await (port === null ? ports.findFirst(query, sandboxId) : ports.find(query, sandboxId, port))
    return {
      domain,
      port: port ?? target?.port ?? null,
      url: options.sandboxHost === undefined ? options.getLocalUrl(domain) : `https://${domain}`,
      dns_target: options.sandboxHost ?? null,
      verified: claim === undefined && (port === null || target !== undefined),
      verification: claim ? proof.getRecord(claim) : null,
      created_at: toIsoTime(createdAtMs),
    }
  }
  const assertCapacity = async (query: Query, sandboxId: SandboxId): Promise<void> => {
    const count = (await records.list(query, sandboxId)).length + (await claims.list(query, sandboxId)).length
    if (count < maxSandboxDomains) return
    throw new AppError(
      'sandbox-domain/too-many',
      `This sandbox has ${maxSandboxDomains} domains, which is the maximum.`,
    )
  }
  /** @throws AppError `sandbox/not-found` if the sandbox was removed */
  const assertOwner = async (query: Query, { sandboxId, accountId }: Target): Promise<void> => {
    if ((await records.findAccount(query, sandboxId)) === accountId) return
    throw new AppError('sandbox/not-found', 'Sandbox not found or access denied')
  }
  /** @throws AppError `sandbox-domain/taken` unless the account may take the domain from its sandbox with a proof */
  const assertMovable = async (query: Query, accountId: AccountId, record: SandboxDomainRecord): Promise<void> => {
    const isTheirs = (await records.findAccount(query, record.sandboxId)) !== accountId
    if (isTheirs && !isReserved(record.domain)) return
    throw new AppError('sandbox-domain/taken', `\`${record.domain}\` points to another sandbox.`)
  }
  /**
   * Whether a domain needs no proof. With public URLs only the account's own domains need none; on this computer, names
   * of reserved top-level domains need none either.
   */
  const needsNone = async (query: Query, accountId: AccountId, domain: string): Promise<boolean> =>
    (options.sandboxHost === undefined && isReserved(domain)) || (await options.isOwned(query, accountId, domain))

  const route = async (tx: Transaction, record: SandboxDomainRecord, before?: SandboxDomainRecord): Promise<Added> => {
    await claims.remove(tx, record.sandboxId, record.domain)
    await records.save(tx, record)
    return { domain: await toWire(tx, record), routed: { record, before } }
  }
  /** Publishes a committed change. */
  const announce = ({ domain, routed }: Added): SandboxDomain => {
    if (!routed) return domain
    const { record, before } = routed
    if (before && before.sandboxId !== record.sandboxId) options.onChanged(before.sandboxId)
    options.onChanged(record.sandboxId)
    const target = record.port === null ? 'the first exposed port' : `port ${record.port}`
    note(record.sandboxId, { type: 'domain.added', description: `Added the domain ${record.domain} for ${target}.` })
    return domain
  }

  /** Routes the domain, or stores a claim that has to be proved. */
  const addOrClaim = async (tx: Transaction, target: Target, { domain, port }: DomainRequest): Promise<Added> => {
    const { sandboxId, accountId } = target
    if (port !== null) await ports.get(tx, sandboxId, port)
    if (options.isOwn(domain)) throw new AppError('sandbox-domain/taken', `\`${domain}\` belongs to this service.`)
    await assertOwner(tx, target)
    const before = await records.find(tx, domain)
    if (before?.sandboxId === sandboxId) {
      return before.port === port ? { domain: await toWire(tx, before) } : route(tx, { ...before, port }, before)
    }
    if (before) await assertMovable(tx, accountId, before)
    const earlier = await claims.find(tx, sandboxId, domain)
    if (!earlier) await assertCapacity(tx, sandboxId)
    const record = { domain, sandboxId, port, createdAtMs: earlier?.createdAtMs ?? now() }
    if (await needsNone(tx, accountId, domain)) return route(tx, record, before)
    const claim = { ...record, token: earlier?.token ?? options.newToken() }
    await claims.save(tx, claim)
    return { domain: await toWire(tx, claim, claim), claim }
  }
  /** Routes the domain of a proved claim, which other requests may have removed, changed or proved during the check. */
  const routeClaim = async (tx: Transaction, target: Target, proved: DomainClaim): Promise<Added> => {
    await assertOwner(tx, target)
    const before = await records.find(tx, proved.domain)
    const claim = await claims.find(tx, target.sandboxId, proved.domain)
    if (claim?.token !== proved.token) {
      if (before?.sandboxId === target.sandboxId) return { domain: await toWire(tx, before) }
      throw createMissingError(proved.domain)
    }
    if (before && before.sandboxId !== target.sandboxId) await assertMovable(tx, target.accountId, before)
    const { token: _, ...record } = claim
    return route(tx, record, before)
  }

  return {
    async add(target, { domain, port = null }) {
      const added = await store.write((tx) => addOrClaim(tx, target, { domain, port }))
      const { claim } = added
      if (!claim) return announce(added)
      if (await proof.isProved(claim)) return announce(await store.write((tx) => routeClaim(tx, target, claim)))
      await assertOwner(store.read, target)
      return added.domain
    },
    async list(sandboxId) {
      const domains = await store.write(async (tx) => {
        const all: SandboxDomain[] = []
        for (const record of await records.list(tx, sandboxId)) all.push(await toWire(tx, record))
        for (const claim of await claims.list(tx, sandboxId)) all.push(await toWire(tx, claim, claim))
        return all
      })
      return domains.sort((a, b) => (a.domain < b.domain ? -1 : 1))
    },
    async remove(sandboxId, domain) {
      const wasRouted = await store.write(async (tx) => {
        if (await claims.remove(tx, sandboxId, domain)) return false
        if ((await records.find(tx, domain))?.sandboxId !== sandboxId) throw createMissingError(domain)
        await records.remove(tx, domain)
        return true
      })
      if (!wasRouted) return
      options.onChanged(sandboxId)
      note(sandboxId, { type: 'domain.removed', description: `Removed the domain ${domain}.` })
    },
  }
}

type DomainRequest = { domain: string; port: number | null }

/** Outcome of a transaction: the domain is routed, unchanged, or claimed. */
type Added = {
  domain: SandboxDomain
  routed?: { record: SandboxDomainRecord; before: SandboxDomainRecord | undefined }
  claim?: DomainClaim
}

function createMissingError(domain: string): AppError {
  return new AppError('sandbox-domain/not-found', `\`${domain}\` does not point to this sandbox.`)
}
