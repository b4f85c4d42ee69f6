import { toClientNetwork } from '#platform/http/clientNetwork.ts'
import { createTokenBuckets } from '#platform/tokenBuckets.ts'

export type FailureLimiter = {
  /** Counts one failure of `address`; of IPv6, of its network of 64 bits. @returns seconds to wait before the next one, 0 while there is room. */
  fail(address: string): number
}

/**
 * Thirty failures of an address at once, then one a second.
 * Only failures are counted and only failures are held up: a good key is never made to wait for them.
 */
export function createFailureLimiter(now: () => number): FailureLimiter {
  const failures = createTokenBuckets({ burst: 30, perSecond: 1, now })
  return { fail: (address) => failures.take(toClientNetwork(address)) }
}
