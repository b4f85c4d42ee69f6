import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { NewDnsRecord } from '#shared/dns/dnsRecord.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Caller } from '../base/endpoint.ts'
import { resolveServiceAddresses } from './serviceAddresses.ts'
import type { Zones } from './zones.ts'

export type PointTarget = { sandboxId: string; port: number }

/** Sandboxes and ports that domains can point to. */
export type DomainTargets = {
  /** @throws AppError `sandbox/not-found`, `port/not-found` */
  check(caller: Caller, target: PointTarget): Promise<void>
  /** @throws AppError as `check`, and `sandbox-domain/taken` */
  lead(accountId: AccountId, domain: string, target: PointTarget): Promise<{ url: string; verified: boolean }>
}

export type PointResult = {
  sandbox_id: string
  port: number
  url: string | null
  verified: boolean
  error: string | null
}

/** Points a newly bought domain to a port of a sandbox, and its DNS to this service. */
export function linkDomain(options: {
  targets: () => DomainTargets
  zones: Pick<Zones, 'add'>
  /** Host name of sandboxes. Undefined if the service is reached only on this computer. */
  sandboxHost: string | undefined
  log: Log
}) {
  const { targets, zones, sandboxHost, log } = options

  const addresses = async (): Promise<NewDnsRecord[]> => {
    // A CNAME is not allowed at the zone apex, so the apex gets the addresses of the host name.
    return (await resolveServiceAddresses(sandboxHost)).map((address) => ({ ...address, host: '@' }))
  }
  const addOnce = async (accountId: AccountId, name: string, record: NewDnsRecord): Promise<void> => {
    try {
      await zones.add({ accountId, name }, record)
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'dns/conflict')) throw error
    }
  }

  return {
    /** Checks the target before payment. */
    check: (caller: Caller, target: PointTarget) => targets().check(caller, target),
    /** Idempotent. Returns errors instead of throwing, because the domain was already bought. */
    async point(accountId: AccountId, domain: string, target: PointTarget): Promise<PointResult> {
      const { sandboxId: sandbox_id, port } = target
      try {
        const { url, verified } = await targets().lead(accountId, domain, target)
        for (const record of await addresses()) await addOnce(accountId, domain, record)
        return { sandbox_id, port, url, verified, error: null }
      } catch (cause) {
        log.warn('failed to point a purchased domain to its sandbox', { domain, error: cause })
        const error = cause instanceof AppError ? cause.message : 'Something unexpected went wrong in Steward.'
        return { sandbox_id, port, url: null, verified: false, error }
      }
    },
  }
}

export type PointedDomain = ReturnType<typeof linkDomain>
