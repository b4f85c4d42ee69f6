import { isIPv6 } from 'node:net'
import { AppError } from '../../../shared/appError.ts'
import type { Caller } from '../endpoint.ts'
import { tokenBuckets } from './tokenBuckets.ts'

/** Requests a minute, and as many at once. */
export type RateLimitNumbers = { perKey: number; perAddress: number; signInsPerAddress: number }

/** Each throws AppError `request/rate`, which says how long to wait. */
export type RateLimits = {
  /** The owner of this service is never held up. */
  known(caller: Caller, address: string): void
  unknown(address: string): void
  signIn(address: string): void
}

export function rateLimits(numbers: RateLimitNumbers, now: () => number): RateLimits {
  const bucketsOf = (perMinute: number) => tokenBuckets({ burst: perMinute, perSecond: perMinute / 60, now })
  const keys = bucketsOf(numbers.perKey)
  const addresses = bucketsOf(numbers.perAddress)
  const signIns = bucketsOf(numbers.signInsPerAddress)
  const unknown = (address: string) => check(addresses.take(networkOf(address)), 'from this address')
  return {
    known(caller, address) {
      if (caller.owner) return
      unknown(address)
      check(keys.take(caller.keyId ?? caller.wallet?.address ?? caller.accountId), 'with this key')
    },
    unknown,
    signIn(address) {
      unknown(address)
      check(signIns.take(networkOf(address)), 'to sign in or register from this address')
    },
  }
}

function check(waitSeconds: number, whose: string): void {
  if (waitSeconds === 0) return
  throw new AppError('request/rate', `Too many requests came ${whose}.`, { retryAfterSeconds: waitSeconds })
}

/** One machine with IPv6 has a whole network of addresses: the first 64 bits are counted. */
export function networkOf(address: string): string {
  const bare = address.replace(/^::ffff:(?=\d+\.)/, '').replace(/%.*$/, '')
  if (!isIPv6(bare)) return bare
  const [before = '', after] = bare.split('::')
  const first = before === '' ? [] : before.split(':')
  const last = after === undefined || after === '' ? [] : after.split(':')
  const zeros = after === undefined ? [] : Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0')
  return [...first, ...zeros, ...last]
    .slice(0, 4)
    .map((part) => Number.parseInt(part, 16).toString(16))
    .join(':')
}
