import type { AppError } from '#shared/appError.ts'

/**
 * Identity on whose behalf work runs: an API key, a sign-in, a terminal link, a tool client, a chat, a wallet. Format
 * `kind:id`, such as `key:key_9f2c`.
 */
export type PrincipalId = `${string}:${string}`

/** Binds a unit of work to the principal for which it runs. */
export type WorkLease = {
  /** Aborts when the principal ends, with the AppError of `endedError` as its reason. */
  readonly signal: AbortSignal
  /** Error with which the lease ended. Undefined while it is active. */
  readonly error: AppError | undefined
  /** Releases the lease after the work. Idempotent. */
  release(): void
}

export type LeaseTerms = {
  /**
   * Called once when the lease ends, before its signal aborts. Not called for a lease that is created already ended.
   */
  onEnd?: ((error: AppError) => void) | undefined
  /**
   * Expiry of a credential whose principal may continue, such as an access token of a sign-in. Checked by `endAbsent`.
   */
  expiresAtMs?: number | undefined
}

export type Lease<Rights> = WorkLease & {
  /**
   * Returns the current rights of the principal. Never cache the result.
   * @throws AppError of `endedError` once the principal has ended
   */
  may(): Rights
}

export type Principals<Rights, Holder extends string> = {
  /**
   * Registers work for a principal.
   * @param holder kind of the work; each kind has a row in the table of the seam tests
   * @returns a lease, already ended if the principal has ended
   */
  lease(principal: PrincipalId, holder: Holder, terms?: LeaseTerms): Lease<Rights>
  /** Ends the leases of a principal that was revoked or removed. Call it after that transaction. */
  end(principal: PrincipalId): void
  /**
   * Ends all expired leases, and the leases of principals that have no rights any more. For expiry, and for changes
   * that affect unknown principals.
   */
  endAbsent(): void
  /** Counts active leases by kind of work. For tests and diagnostics. */
  count(): Readonly<Partial<Record<Holder, number>>>
}

type Options<Rights> = {
  /** Reads the current rights. Undefined if revoked, removed or expired. */
  getRights: (principal: PrincipalId) => Rights | undefined
  /** Creates the error for work of a principal that has ended. */
  endedError: (principal: PrincipalId) => AppError
  /** Default: `Date.now`. */
  now?: (() => number) | undefined
}

/**
 * Creates a registry of work in progress by principal, for rights that can be read synchronously. All work for a
 * principal, such as waits, polls, streams and created resources, takes a lease, so that a revocation ends
 * all work immediately.
 */
export function createPrincipals<Rights, Holder extends string>(options: Options<Rights>): Principals<Rights, Holder> {
  const { getRights, endedError, now = Date.now } = options
  const leases = createLeases<Holder, RightsLease<Rights, Holder>>({ endedError, now })
  return {
    lease(principal, holder, { onEnd, expiresAtMs } = noTerms) {
      const lease = new RightsLease({ leases, principal, holder, expiresAtMs, onEnd, getRights, endedError })
      if (getRights(principal) === undefined || lease.expiresAtMs <= now()) lease.refuse(endedError(principal))
      else leases.add(lease)
      return lease
    },
    end: leases.end,
    endAbsent() {
      const failures: unknown[] = []
      for (const principal of [...leases.byPrincipal.keys()]) {
        try {
          if (getRights(principal) === undefined) leases.end(principal)
          else leases.endExpired(principal)
        } catch (error) {
          failures.push(error) // continue with the remaining ones
        }
      }
      if (failures.length > 0) throw new AggregateError(failures, 'Work of absent principals is still running.')
    },
    count: leases.count,
  }
}

const noTerms: LeaseTerms = {}

/** Active leases by principal. Does not know whether a principal has rights. */
export type Leases<Holder extends string, L extends OpenLease<Holder>> = {
  readonly byPrincipal: ReadonlyMap<PrincipalId, ReadonlySet<L>>
  add(lease: L): void
  remove(lease: OpenLease<Holder>): void
  /** Ends the leases of a principal. */
  end(principal: PrincipalId): void
  /** Ends the leases of a principal whose credential has expired. */
  endExpired(principal: PrincipalId): void
  /** Counts active leases by kind of work. */
  count(): Readonly<Partial<Record<Holder, number>>>
}

type LeasesOptions = {
  /** Creates the error for work of a principal that has ended. */
  endedError: (principal: PrincipalId) => AppError
  now: () => number
}

export function createLeases<Holder extends string, L extends OpenLease<Holder>>({
  endedError,
  now,
}: LeasesOptions): Leases<Holder, L> {
  const byPrincipal = new Map<PrincipalId, Set<L>>()
  return {
    byPrincipal,
    add(lease) {
      const siblings = byPrincipal.get(lease.principal)
      if (siblings) siblings.add(lease)
      else byPrincipal.set(lease.principal, new Set([lease]))
    },
    remove(lease) {
      const siblings = byPrincipal.get(lease.principal)
      if (siblings?.delete(lease as L) && siblings.size === 0) byPrincipal.delete(lease.principal) // only an L is in it
    },
    end(principal) {
      const ended = byPrincipal.get(principal)
      if (!ended) return
      byPrincipal.delete(principal)
      const error = endedError(principal)
      const failures: unknown[] = []
      for (const lease of ended) {
        try {
          lease.end(error)
        } catch (cause) {
          failures.push(cause) // continue with the remaining ones
        }
      }
      if (failures.length > 0) throw new AggregateError(failures, `Work of ${principal} is still running.`)
    },
    endExpired(principal) {
      const nowMs = now()
      for (const lease of byPrincipal.get(principal) ?? []) {
        if (lease.expiresAtMs > nowMs) continue
        lease.release()
        lease.end(endedError(principal))
      }
    },
    count() {
      const counts: Partial<Record<Holder, number>> = {}
      for (const set of byPrincipal.values()) for (const { holder } of set) counts[holder] = (counts[holder] ?? 0) + 1
      return counts
    },
  }
}

export type LeaseOptions<Holder extends string> = LeaseTerms & {
  leases: { remove(lease: OpenLease<Holder>): void }
  principal: PrincipalId
  holder: Holder
}

/** Creates its AbortController on first use, because most requests end without one. */
export class OpenLease<Holder extends string> implements WorkLease {
  readonly principal: PrincipalId
  readonly holder: Holder
  readonly expiresAtMs: number
  readonly #leases: LeaseOptions<Holder>['leases']
  readonly #onEnd: LeaseTerms['onEnd']
  #controller: AbortController | undefined
  #error: AppError | undefined

  constructor({ leases, principal, holder, expiresAtMs = Number.POSITIVE_INFINITY, onEnd }: LeaseOptions<Holder>) {
    this.principal = principal
    this.holder = holder
    this.expiresAtMs = expiresAtMs
    this.#leases = leases
    this.#onEnd = onEnd
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#error) this.#controller.abort(this.#error)
    }
    return this.#controller.signal
  }

  get error(): AppError | undefined {
    return this.#error
  }

  release(): void {
    this.#leases.remove(this)
  }

  end(error: AppError): void {
    if (this.#error) return
    this.#error = error
    this.#onEnd?.(error)
    this.#controller?.abort(error)
  }

  /** Ends the lease before its work has begun, without `onEnd`. */
  refuse(error: AppError): void {
    this.release()
    this.#error ??= error
    this.#controller?.abort(error)
  }
}

class RightsLease<Rights, Holder extends string> extends OpenLease<Holder> implements Lease<Rights> {
  readonly #getRights: Options<Rights>['getRights']
  readonly #endedError: Options<Rights>['endedError']

  constructor(options: LeaseOptions<Holder> & Pick<Options<Rights>, 'getRights' | 'endedError'>) {
    super(options)
    this.#getRights = options.getRights
    this.#endedError = options.endedError
  }

  may(): Rights {
    if (this.error) throw this.error
    const rights = this.#getRights(this.principal)
    if (rights === undefined) throw this.#endedError(this.principal)
    return rights
  }
}
