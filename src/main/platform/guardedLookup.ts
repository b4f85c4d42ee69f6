import { type LookupAddress, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'

/** Of one name: whether a connection may go to this address. */
export type IsAllowed = (address: string, hostname: string) => boolean

/** What a refused name fails with. */
export const notPublic = 'The address is not public.'

/**
 * Looks a name up for `net.connect`, which then connects to what was checked: no name can lead elsewhere in between. One
 * address that is not allowed refuses the name.
 */
export function guardedLookup(isAllowed: IsAllowed, resolve: typeof lookup = lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (failure, addresses) => {
      if (failure) return callback(failure, '', 0)
      const found = addresses as LookupAddress[] // of `all: true`
      const [first] = found
      if (!first || found.some(({ address }) => !isAllowed(address, hostname))) {
        return callback(new Error(notPublic), '', 0)
      }
      if (options.all) return callback(null, found)
      return callback(null, first.address, first.family)
    })
  }
}
