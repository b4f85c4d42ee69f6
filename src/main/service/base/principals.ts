import {
  createLeases,
  type LeaseTerms,
  OpenLease,
  type PrincipalId,
  type WorkLease,
} from '#platform/access/principals.ts'
import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Transaction } from '#storage/store.ts'

/**
 * Kinds of principals. `sign-in`: a family of refresh tokens. `frame`: a preview in a frame of the window. `person`:
 * the user in the window of the application; ends with the process.
 */
export const principalKinds = ['key', 'sign-in', 'link', 'port-token', 'frame', 'person'] as const
export type PrincipalKind = (typeof principalKinds)[number]

/** Kinds of work that take a lease, each with the revocable principals that may do it. */
export const workKinds = {
  request: ['key', 'sign-in', 'link'],
  completion: ['key', 'sign-in'],
  exec: ['key', 'sign-in'],
  poll: ['key', 'sign-in', 'link'],
  download: ['key', 'sign-in'],
  upload: ['key', 'sign-in'],
  'terminal-socket': ['key', 'sign-in', 'link'],
  'event-socket': ['key', 'sign-in'],
  'preview-exchange': ['key', 'sign-in', 'port-token', 'frame'],
  'preview-socket': ['key', 'sign-in', 'port-token', 'frame'],
} as const satisfies Record<string, readonly PrincipalKind[]>
export type WorkKind = keyof typeof workKinds

/** Kinds of credentials that end with their issuer, each with the principals that can issue them. */
export const issuedKinds = {
  'terminal-link': ['key', 'sign-in'],
  'port-token': ['key', 'sign-in'],
  'frame-session': ['key', 'sign-in'],
  'api-key': ['sign-in'],
} as const satisfies Record<string, readonly PrincipalKind[]>

export type PrincipalRights = { accountId: AccountId }

/**
 * Issuer of a credential, as stored with it. Both are null if the window issued it, or a version that did not store
 * issuers.
 */
export type Issuer = { keyId: string | null; signIn: string | null }

/**
 * Reads the current rights of a principal. The id excludes the kind.
 * @param tx transaction of a change that the rights permit. Default: reads committed data
 * @returns undefined if revoked, removed or expired
 */
export type FindRights = (
  id: string,
  tx?: Transaction,
) => PrincipalRights | undefined | Promise<PrincipalRights | undefined>

/** Registry of the work and the credentials of all principals of the service. */
export type ServicePrincipals = {
  /** Registers the lookup of a principal's current rights for one kind. */
  add(kind: PrincipalKind, findRights: FindRights): void
  /**
   * Registers work for a principal. Its rights are read after that, so a concurrent revocation ends the lease.
   * @returns a lease, already ended if the principal has ended
   */
  lease(principal: PrincipalId, work: WorkKind, terms?: ServiceLeaseTerms): Promise<WorkLease>
  /**
   * Number that changes before work of any principal ends. Rights that were read after reading the revision are still
   * current while it is unchanged.
   */
  revision(): number
  /** Whether the principal has rights now. */
  isPresent(principal: PrincipalId): Promise<boolean>
  /** @throws AppError `auth/invalid` if the principal has no rights in this transaction */
  assertPresent(tx: Transaction, principal: PrincipalId): Promise<void>
  /**
   * Ends the leases of a principal that was revoked or removed, at once, and then what it issued. Call it after that
   * transaction.
   */
  end(principal: PrincipalId): Promise<void>
  /**
   * Ends all expired leases, and the leases of principals that have no rights any more. For expiry, and for changes
   * that affect unknown principals.
   */
  endAbsent(): Promise<void>
  /** Counts active leases by kind of work. For tests and diagnostics. */
  count(): Readonly<Partial<Record<WorkKind, number>>>
  close(): void
}

export type ServiceLeaseTerms = LeaseTerms & {
  /** Revision before the credential was looked up. Saves another lookup while it is unchanged. */
  revision?: number
}

/** Interval of checks, which also end expired credentials. */
const compareEveryMs = 30_000

export function createServicePrincipals({ now, log }: { now: () => number; log: Log }): ServicePrincipals {
  const finders = new Map<string, FindRights>()
  const leases = createLeases<WorkKind, OpenLease<WorkKind>>({ endedError: toEndedError, now })
  let revision = 0
  const findRights = async (principal: PrincipalId, tx?: Transaction): Promise<PrincipalRights | undefined> => {
    const separator = principal.indexOf(':')
    return finders.get(principal.slice(0, separator))?.(principal.slice(separator + 1), tx)
  }
  const endAbsent = async (): Promise<void> => {
    revision += 1
    const failures: unknown[] = []
    for (const principal of [...leases.byPrincipal.keys()]) {
      try {
        if ((await findRights(principal)) === undefined) leases.end(principal)
        else leases.endExpired(principal)
      } catch (error) {
        failures.push(error) // continue with the remaining ones
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'Work of absent principals is still running.')
  }
  const timer = setInterval(() => {
    endAbsent().catch((error: unknown) => log.error('failed to check open work against its principals', { error }))
  }, compareEveryMs)
  timer.unref()
  return {
    add: (kind, find) => void finders.set(kind, find),
    async lease(principal, holder, { onEnd, expiresAtMs, revision: readAt } = {}) {
      const lease = new OpenLease({ leases, principal, holder, expiresAtMs, onEnd })
      leases.add(lease)
      try {
        const isPresent = readAt === revision || (await findRights(principal)) !== undefined
        if (!isPresent || lease.expiresAtMs <= now()) lease.refuse(toEndedError(principal))
      } catch (error) {
        lease.release()
        throw error
      }
      return lease
    },
    revision: () => revision,
    isPresent: async (principal) => (await findRights(principal)) !== undefined,
    async assertPresent(tx, principal) {
      if ((await findRights(principal, tx)) === undefined) throw toEndedError(principal)
    },
    async end(principal) {
      revision += 1
      try {
        leases.end(principal)
      } finally {
        await endAbsent()
      }
    },
    endAbsent,
    count: leases.count,
    close: () => clearInterval(timer),
  }
}

export function toIssuer(principal: PrincipalId): Issuer {
  const [kind, id = ''] = principal.split(':')
  return { keyId: kind === 'key' ? id : null, signIn: kind === 'sign-in' ? id : null }
}

const endedMessages: Readonly<Record<PrincipalKind, string>> = {
  key: 'This API key was revoked.',
  'sign-in': 'This sign-in has ended.',
  link: 'This terminal link has ended.',
  'port-token': 'This port token has ended.',
  frame: 'This preview has ended.',
  person: 'This service does not know this window.',
}

function toEndedError(principal: PrincipalId): AppError {
  const kind = principalKinds.find((it) => principal.startsWith(`${it}:`))
  return new AppError('auth/invalid', kind ? endedMessages[kind] : 'This credential has ended.')
}
