import type { AppError } from '#shared/appError.ts'

/**
 * Identity on whose behalf work runs: an API key, a sign-in, a terminal link, a tool client, a chat, a wallet. Format
 * `kind:id`, such as `key:key_9f2c`.
 */
export type PrincipalId = `${string}:${string}`

/** Binds a unit of work to the principal for which it runs. */
export type Lease<Rights> = {
  /** Aborts when the principal ends, with the AppError of `endedError` as its reason. */
  readonly signal: AbortSignal
  /** Error with which the lease ended. Undefined while it is active. */
  readonly error: AppError | undefined
  /**
   * Returns the current rights of the principal. Never cache the result.
   * @throws AppError of `endedError` once the principal has ended
   */
  may(): Rights
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
 * Creates a registry of work in progress by principal. The local agent and the service have one each. All work for a
 * principal, such as waits, polls, streams and created resources, takes a lease, so that a revocation ends all of it
 * immediately.
 */
export function createPrincipals<Rights, Holder extends string>(options: Options<Rights>): Principals<Rights, Holder> {
  const { getRights, endedError, now = Date.now } = options
  const leases = new Map<PrincipalId, Set<OpenLease<Rights, Holder>>>()

  const end = (principal: PrincipalId): void => {
    const ended = leases.get(principal)
    if (!ended) return
    leases.delete(principal)
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
  }

  const endExpired = (principal: PrincipalId): void => {
    const nowMs = now()
    for (const lease of leases.get(principal) ?? []) {
      if (lease.expiresAtMs > nowMs) continue
      lease.release()
      lease.end(endedError(principal))
    }
  }
  const context = { leases, getRights, endedError }

  return {
    lease(principal, holder, { onEnd, expiresAtMs = Number.POSITIVE_INFINITY } = noTerms) {
      if (getRights(principal) === undefined || expiresAtMs <= now()) {
        const ended = new OpenLease({ context, principal, holder, expiresAtMs, onEnd: undefined })
        ended.end(endedError(principal))
        return ended
      }
      const lease = new OpenLease({ context, principal, holder, expiresAtMs, onEnd })
      const siblings = leases.get(principal)
      if (siblings) siblings.add(lease)
      else leases.set(principal, new Set([lease]))
      return lease
    },
    end,
    endAbsent() {
      const failures: unknown[] = []
      for (const principal of [...leases.keys()]) {
        try {
          if (getRights(principal) === undefined) end(principal)
          else endExpired(principal)
        } catch (error) {
          failures.push(error) // continue with the remaining ones
        }
      }
      if (failures.length > 0) throw new AggregateError(failures, 'Work of absent principals is still running.')
    },
    count() {
      const counts: Partial<Record<Holder, number>> = {}
      for (const set of leases.values()) for (const { holder } of set) counts[holder] = (counts[holder] ?? 0) + 1
      return counts
    },
  }
}

const noTerms: LeaseTerms = {}

type Context<Rights, Holder extends string> = Pick<Options<Rights>, 'getRights' | 'endedError'> & {
  leases: Map<PrincipalId, Set<OpenLease<Rights, Holder>>>
}

type LeaseOptions<Rights, Holder extends string> = Required<LeaseTerms> & {
  context: Context<Rights, Holder>
  principal: PrincipalId
  holder: Holder
  expiresAtMs: number
}

/** Creates its AbortController on first use, because most requests end without one. */
class OpenLease<Rights, Holder extends string> implements Lease<Rights> {
  readonly holder: Holder
  readonly expiresAtMs: number
  readonly #context: Context<Rights, Holder>
  readonly #principal: PrincipalId
  readonly #onEnd: LeaseTerms['onEnd']
  #controller: AbortController | undefined
  #error: AppError | undefined

  constructor({ context, principal, holder, expiresAtMs, onEnd }: LeaseOptions<Rights, Holder>) {
    this.holder = holder
    this.expiresAtMs = expiresAtMs
    this.#context = context
    this.#principal = principal
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

  may(): Rights {
    if (this.#error) throw this.#error
    const { getRights, endedError } = this.#context
    const rights = getRights(this.#principal)
    if (rights === undefined) throw endedError(this.#principal)
    return rights
  }

  release(): void {
    const { leases } = this.#context
    const siblings = leases.get(this.#principal)
    if (siblings?.delete(this) && siblings.size === 0) leases.delete(this.#principal)
  }

  end(error: AppError): void {
    if (this.#error) return
    this.#error = error
    this.#onEnd?.(error)
    this.#controller?.abort(error)
  }
}
