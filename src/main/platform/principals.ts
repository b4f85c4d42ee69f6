import type { AppError } from '#shared/appError.ts'

/**
 * Principal that acts: an API key, a sign-in, a terminal link, a tool client, a chat, a wallet. Written `kind:id`, such as
 * `key:key_9f2c`.
 */
export type PrincipalId = `${string}:${string}`

/** Ties one piece of work to the principal that it is done for. */
export type Lease<Rights> = {
  /** Aborts when the principal ends, with the AppError of `endedError` as its reason. */
  readonly signal: AbortSignal
  /** Error of the end. Undefined while the lease lasts. */
  readonly error: AppError | undefined
  /**
   * Returns the rights that the principal has at this moment. Never store the result.
   *
   * @throws AppError of `endedError` once the principal has ended
   */
  may(): Rights
  /** Call it when the work is done. Later calls do nothing. */
  release(): void
}

export type LeaseTerms = {
  /** Called once when the lease ends, before its signal fires; not for a lease that has ended before it began. */
  onEnd?: ((error: AppError) => void) | undefined
  /** End of a credential whose principal may go on, such as an access token of a sign-in. Checked by `endAbsent`. */
  expiresAtMs?: number | undefined
}

export type Principals<Rights, Holder extends string> = {
  /**
   * Registers work for a principal.
   *
   * @param holder kind of the work; each kind has a row in the table of the seam tests
   * @returns a lease that has already ended when the principal has
   */
  lease(principal: PrincipalId, holder: Holder, terms?: LeaseTerms): Lease<Rights>
  /** Ends the leases of a principal that was revoked or removed. Call it after the transaction that did so. */
  end(principal: PrincipalId): void
  /**
   * Ends the leases of every principal without rights, and every expired lease: for changes whose principals are not
   * known, and expiry.
   */
  endAbsent(): void
  /** Counts live leases, by kind of work. For tests and diagnostics. */
  count(): Readonly<Partial<Record<Holder, number>>>
}

type Options<Rights> = {
  /** Reads the present rights. Undefined: revoked, removed or expired. */
  getRights: (principal: PrincipalId) => Rights | undefined
  /** Error for work of a principal that has ended. */
  endedError: (principal: PrincipalId) => AppError
  /** Default: `Date.now`. */
  now?: (() => number) | undefined
}

/**
 * Registry of work in progress, by principal. Each half of the application has one; whatever works, waits, polls,
 * streams or was created for a principal takes a lease, so a revocation ends all of it at once.
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
        failures.push(cause) // the others end all the same
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, `Work of ${principal} did not end.`)
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
          failures.push(error) // the others end all the same
        }
      }
      if (failures.length > 0) throw new AggregateError(failures, 'Work of absent principals did not end.')
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

/** Creates its AbortController on first use: most requests end without one. */
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
