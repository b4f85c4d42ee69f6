import { createTokenBuckets } from '#platform/concurrency/tokenBuckets.ts'
import { toClientNetwork } from '#platform/http/clientNetwork.ts'

export type FailureLimiter = {
  /**
   * Counts one failure of `address`; an IPv6 address counts by its /64 network.
   * @returns seconds until the next attempt, or 0 below the limit
   */
  fail(address: string): number
}

/**
 * Allows a burst of thirty failures per address, then one per second. Only failures are counted and delayed: a valid
 * key is always accepted.
 */
export function createFailureLimiter(now: () => number): FailureLimiter {
  const failures = createTokenBuckets({ burst: 30, perSecond: 1, now })
  return { fail: (address) => failures.take(toClientNetwork(address)) }
}
