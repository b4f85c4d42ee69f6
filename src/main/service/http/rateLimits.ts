import { createTokenBuckets } from '#platform/concurrency/tokenBuckets.ts'
import { toClientNetwork } from '#platform/http/clientNetwork.ts'
import { AppError } from '#shared/appError.ts'
import type { Caller, DailyQuota } from '../base/endpoint.ts'

type DailyCounts = {
  /** Counts one use of `name`. @returns 0, or the number of seconds until the next use is allowed */
  take(name: string): number
}

const dayMs = 86_400_000
const maxCountedNames = 10_000

export type RateLimitNumbers = {
  /** Requests per minute, and maximum burst. */
  perKey: number
  perAddress: number
  signInsPerAddress: number
  /** Limits per network. */
  newAutomatonsPerDay: number
  noncesPerDay: number
  newAccountsPerDay: number
}

/** Limited because registrars limit the rate of the service. */
const searchedNamesPerDay = 20_000

/** Each method throws AppError `request/rate` with the time to wait. */
export type RateLimits = {
  /** Checks the rate of a caller. The owner is exempt. */
  checkAuthenticated(caller: Caller, address: string): void
  checkUnauthenticated(address: string): void
  signIn(address: string): void
  /** Counts a resource created for an anonymous caller. The owner is exempt. */
  count(quota: DailyQuota, requester: { address: string; caller: Caller | undefined }): void
}

export function createRateLimits(numbers: RateLimitNumbers, now: () => number): RateLimits {
  const createBuckets = (perMinute: number) => createTokenBuckets({ burst: perMinute, perSecond: perMinute / 60, now })
  const keys = createBuckets(numbers.perKey)
  const addresses = createBuckets(numbers.perAddress)
  const signIns = createBuckets(numbers.signInsPerAddress)
  const daily = {
    automaton: createDailyCounts({ max: numbers.newAutomatonsPerDay, now }),
    nonce: createDailyCounts({ max: numbers.noncesPerDay, now }),
    account: createDailyCounts({ max: numbers.newAccountsPerDay, now }),
    name: createDailyCounts({ max: searchedNamesPerDay, now }),
  }
  const checkUnauthenticated = (address: string) => check(addresses.take(toClientNetwork(address)), 'from this address')
  return {
    checkAuthenticated(caller, address) {
      if (caller.owner) return
      checkUnauthenticated(address)
      check(keys.take(caller.keyId ?? caller.wallet?.address ?? caller.accountId), 'with this key')
    },
    checkUnauthenticated,
    signIn(address) {
      checkUnauthenticated(address)
      check(signIns.take(toClientNetwork(address)), 'to sign in or register from this address')
    },
    count(quota, { address, caller }) {
      if (caller?.owner) return
      rejectRequest(daily[quota].take(toClientNetwork(address)), createRateError[quota])
    },
  }
}

const createRateError = {
  automaton: 'Too many automaton registrations from this network today.',
  nonce: 'Too many nonces for this network today.',
  account: 'Too many new accounts from this network today.',
  name: 'Too many domain searches from this network today.',
} as const

function check(waitSeconds: number, whose: string): void {
  rejectRequest(waitSeconds, `Too many requests ${whose}.`)
}

function rejectRequest(waitSeconds: number, message: string): void {
  if (waitSeconds > 0) throw new AppError('request/rate', message, { retryAfterSeconds: waitSeconds })
}

/**
 * Limits each name to `max` uses in the 24 hours from its first use. Rejected uses do not count. Names are stored for a
 * day.
 */
function createDailyCounts({ max, now }: { max: number; now: () => number }): DailyCounts {
  const days = new Map<string, { count: number; endsAtMs: number }>()
  const forgetOld = (nowMs: number): void => {
    for (const [name, { endsAtMs }] of days) {
      // Entries are ordered by start, and so by end.
      if (endsAtMs > nowMs && days.size <= maxCountedNames) return
      days.delete(name)
    }
  }
  return {
    take(name) {
      const nowMs = now()
      const count = days.get(name)
      const day = count && count.endsAtMs > nowMs ? count : { count: 0, endsAtMs: nowMs + dayMs }
      if (day.count >= max) return Math.ceil((day.endsAtMs - nowMs) / 1000)
      day.count += 1
      if (day !== count) {
        days.delete(name) // added again below as the newest entry
        days.set(name, day)
        forgetOld(nowMs)
      }
      return 0
    },
  }
}
