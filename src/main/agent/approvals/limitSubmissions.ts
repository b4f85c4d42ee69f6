import { createTokenBuckets } from '#platform/tokenBuckets.ts'
import { AppError } from '#shared/appError.ts'
import type { Requester } from '#shared/contract/intents.ts'
import type { Approvals } from './approvals.ts'

/** At once, and then so many each second. Whatever is asked stays in the log for good. */
export const askPace = {
  ofOneRequester: { burst: 60, perSecond: 1 / 3 },
  ofAllTogether: { burst: 240, perSecond: 2 },
} as const

export type PacedAsks = Pick<Approvals, 'ask' | 'cancel'>

/**
 * Asking and taking back, no faster than a person could ever follow. Neither the person nor Steward itself is held up.
 * @throws AppError `request/rate`, which says how long to wait; what `approvals` throws
 */
export function limitSubmissions(approvals: PacedAsks, now: () => number): PacedAsks {
  const createBuckets = () => {
    const ownBuckets = createTokenBuckets({ ...askPace.ofOneRequester, now })
    const all = createTokenBuckets({ ...askPace.ofAllTogether, now })
    return ({ kind, id }: Requester): void => {
      if (kind === 'person' || kind === 'agent') return
      assertPace(ownBuckets.take(`${kind} ${id}`), 'You ask the wallet too often.')
      assertPace(all.take('all'), 'The programs of this Steward ask the wallet too often.')
    }
  }
  const asks = createBuckets()
  const cancels = createBuckets()
  return {
    async ask(request) {
      asks(request.requester)
      return approvals.ask(request)
    },
    cancel(id, requester, withdrawal) {
      cancels(requester)
      return approvals.cancel(id, requester, withdrawal)
    },
  }
}

function assertPace(waitSeconds: number, message: string): void {
  if (waitSeconds > 0) throw new AppError('request/rate', message, { retryAfterSeconds: waitSeconds })
}
