import { createTokenBuckets } from '#platform/concurrency/tokenBuckets.ts'
import { AppError } from '#shared/appError.ts'
import type { Requester } from '#shared/contract/intents.ts'
import type { Approvals } from './approvals.ts'

/** Burst sizes and refill rates. Every submission remains in the log permanently. */
export const submissionRateLimits = {
  ofOneRequester: { burst: 60, perSecond: 1 / 3 },
  ofAllTogether: { burst: 240, perSecond: 2 },
} as const

export type RateLimitedSubmissions = Pick<Approvals, 'submit' | 'cancel'>

/**
 * Limits the rate of submissions and withdrawals. The user and Steward itself are not limited.
 * @throws AppError `request/rate` with the time to wait, and errors of `approvals`
 */
export function limitSubmissions(approvals: RateLimitedSubmissions, now: () => number): RateLimitedSubmissions {
  const createBuckets = () => {
    const ownBuckets = createTokenBuckets({ ...submissionRateLimits.ofOneRequester, now })
    const all = createTokenBuckets({ ...submissionRateLimits.ofAllTogether, now })
    return ({ kind, id }: Requester): void => {
      if (kind === 'person' || kind === 'agent') return
      assertRateLimit(ownBuckets.take(`${kind} ${id}`), 'Too many signing requests from this client.')
      assertRateLimit(all.take('all'), 'Too many signing requests from all clients together.')
    }
  }
  const limitSubmission = createBuckets()
  const limitCancellation = createBuckets()
  return {
    async submit(request) {
      limitSubmission(request.requester)
      return approvals.submit(request)
    },
    cancel(id, requester, withdrawal) {
      limitCancellation(requester)
      return approvals.cancel(id, requester, withdrawal)
    },
  }
}

function assertRateLimit(waitSeconds: number, message: string): void {
  if (waitSeconds > 0) throw new AppError('request/rate', message, { retryAfterSeconds: waitSeconds })
}
