import { toClientNetwork } from '#platform/http/clientNetwork.ts'
import { tokenBuckets } from '#platform/tokenBuckets.ts'
import { AppError } from '#shared/appError.ts'
import type { Caller, Counted } from '../base/endpoint.ts'
import { dailyCounts } from './dailyCounts.ts'

export type RateLimitNumbers = {
  /** Requests a minute, and as many at once. */
  perKey: number
  perAddress: number
  signInsPerAddress: number
  /** From one network. */
  newAutomatonsPerDay: number
  noncesPerDay: number
  newAccountsPerDay: number
}

/** Bounded because registrars limit the rate of a service. */
const searchedNamesPerDay = 20_000

/** Each throws AppError `request/rate`, which says how long to wait. */
export type RateLimits = {
  /** The owner of this service is never held up. */
  known(caller: Caller, address: string): void
  unknown(address: string): void
  signIn(address: string): void
  /** One more of what is made for anybody who asks. The owner, too, is never held up. */
  count(what: Counted, asker: { address: string; caller: Caller | undefined }): void
}

export function rateLimits(numbers: RateLimitNumbers, now: () => number): RateLimits {
  const bucketsOf = (perMinute: number) => tokenBuckets({ burst: perMinute, perSecond: perMinute / 60, now })
  const keys = bucketsOf(numbers.perKey)
  const addresses = bucketsOf(numbers.perAddress)
  const signIns = bucketsOf(numbers.signInsPerAddress)
  const daily = {
    automaton: dailyCounts({ most: numbers.newAutomatonsPerDay, now }),
    nonce: dailyCounts({ most: numbers.noncesPerDay, now }),
    account: dailyCounts({ most: numbers.newAccountsPerDay, now }),
    name: dailyCounts({ most: searchedNamesPerDay, now }),
  }
  const unknown = (address: string) => check(addresses.take(toClientNetwork(address)), 'from this address')
  return {
    known(caller, address) {
      if (caller.owner) return
      unknown(address)
      check(keys.take(caller.keyId ?? caller.wallet?.address ?? caller.accountId), 'with this key')
    },
    unknown,
    signIn(address) {
      unknown(address)
      check(signIns.take(toClientNetwork(address)), 'to sign in or register from this address')
    },
    count(what, { address, caller }) {
      if (caller?.owner) return
      refuse(daily[what].take(toClientNetwork(address)), tooMany[what])
    },
  }
}

const tooMany = {
  automaton: 'Too many automatons were registered from this network today.',
  nonce: 'Too many nonces were made for this network today.',
  account: 'Too many accounts were made from this network today.',
  name: 'Too many domain names were searched from this network today.',
} as const

function check(waitSeconds: number, whose: string): void {
  refuse(waitSeconds, `Too many requests came ${whose}.`)
}

function refuse(waitSeconds: number, message: string): void {
  if (waitSeconds > 0) throw new AppError('request/rate', message, { retryAfterSeconds: waitSeconds })
}
