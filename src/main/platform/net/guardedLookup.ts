import { type LookupAddress, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'

/** Whether a connection to this address of the name is allowed. */
export type IsAllowed = (address: string, hostname: string) => boolean

/** Error message for a name that resolves to a private address. */
export const notPublic = 'The name resolves to a private address.'

/**
 * Creates a lookup for `net.connect`, which connects to exactly the addresses that were checked. This prevents DNS
 * rebinding. A single disallowed address rejects the name.
 */
export function createGuardedLookup(isAllowed: IsAllowed, resolve: typeof lookup = lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0)
      const list = addresses as LookupAddress[] // the option `all: true` returns a list
      const [first] = list
      if (!first || list.some(({ address }) => !isAllowed(address, hostname))) {
        return callback(new Error(notPublic), '', 0)
      }
      if (options.all) return callback(null, list)
      return callback(null, first.address, first.family)
    })
  }
}
