import type { AppError } from '../../shared/appError.ts'

/**
 * Who acts: an API key, a sign-in, a terminal link, a tool client, a chat, a wallet. Written `kind:id`, such as
 * `key:key_9f2c`.
 */
export type PrincipalId = `${string}:${string}`

/** Ties one piece of work to the principal that it is done for. */
export type Lease<Rights> = {
  /** Aborts when the principal ends, with the AppError of `endedError` as its reason. */
  readonly signal: AbortSignal
  /**
   * Returns the rights that the principal has at this moment. Never store the result.
   *
   * @throws AppError of `endedError` once the principal has ended
   */
  may(): Rights
  /** Call it when the work is done. Later calls do nothing. */
  release(): void
}

export type Principals<Rights, Holder extends string> = {
  /**
   * Registers work for a principal.
   *
   * @param holder kind of the work; each kind has a row in the table of the seam tests
   * @returns a lease that has already ended when the principal has
   */
  lease(principal: PrincipalId, holder: Holder): Lease<Rights>
  /** Ends the leases of a principal that was revoked or removed. Call it after the transaction that did so. */
  end(principal: PrincipalId): void
  /** Ends the leases of every principal without rights: for changes whose principals are not known, and expiry. */
  endAbsent(): void
  /** Counts live leases, by kind of work. For tests and diagnostics. */
  count(): Readonly<Partial<Record<Holder, number>>>
}

type Options<Rights> = {
  /** Reads the present rights. Undefined: revoked, removed or expired. */
  rightsOf: (principal: PrincipalId) => Rights | undefined
  /** Error for work of a principal that has ended. */
  endedError: (principal: PrincipalId) => AppError
}

/**
 * Registry of the work that is under way, by principal. Each half of the application has one; whatever works, waits,
 * polls, streams or was made for a principal takes a lease, so a revocation ends all of it at once.
 */
export function createPrincipals<Rights, Holder extends string>(options: Options<Rights>): Principals<Rights, Holder> {
  const { rightsOf, endedError } = options
  const leases = new Map<PrincipalId, Set<OpenLease<Rights, Holder>>>()

  const end = (principal: PrincipalId): void => {
    const ended = leases.get(principal)
    if (!ended) return
    leases.delete(principal)
    const error = endedError(principal)
    for (const lease of ended) lease.end(error)
  }

  return {
    lease(principal, holder) {
      const lease = new OpenLease({ principal, holder, leases, rightsOf, endedError })
      if (rightsOf(principal) === undefined) {
        lease.end(endedError(principal))
        return lease
      }
      const siblings = leases.get(principal)
      if (siblings) siblings.add(lease)
      else leases.set(principal, new Set([lease]))
      return lease
    },
    end,
    endAbsent() {
      for (const principal of [...leases.keys()]) if (rightsOf(principal) === undefined) end(principal)
    },
    count() {
      const counts: Partial<Record<Holder, number>> = {}
      for (const set of leases.values()) for (const { holder } of set) counts[holder] = (counts[holder] ?? 0) + 1
      return counts
    },
  }
}

type LeaseOptions<Rights, Holder extends string> = Options<Rights> & {
  principal: PrincipalId
  holder: Holder
  leases: Map<PrincipalId, Set<OpenLease<Rights, Holder>>>
}

/** Creates its AbortController on first use: most requests end without one. */
class OpenLease<Rights, Holder extends string> implements Lease<Rights> {
  readonly holder: Holder
  readonly #options: LeaseOptions<Rights, Holder>
  #controller: AbortController | undefined
  #error: AppError | undefined

  constructor(options: LeaseOptions<Rights, Holder>) {
    this.holder = options.holder
    this.#options = options
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#error) this.#controller.abort(this.#error)
    }
    return this.#controller.signal
  }

  may(): Rights {
    if (this.#error) throw this.#error
    const { principal, rightsOf, endedError } = this.#options
    const rights = rightsOf(principal)
    if (rights === undefined) throw endedError(principal)
    return rights
  }

  release(): void {
    const { principal, leases } = this.#options
    const siblings = leases.get(principal)
    if (siblings?.delete(this) && siblings.size === 0) leases.delete(principal)
  }

  end(error: AppError): void {
    this.#error = error
    this.#controller?.abort(error)
  }
}
