import { type LookupAddress, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'

/** Whether a connection to this address of the name is allowed. */
export type IsAllowed = (address: string, hostname: string) => boolean

/** Message of the error for a refused name. */
export const notPublic = 'The address is not public.'

/**
 * Looks a name up for `net.connect`, which then connects to what was checked: no name can lead elsewhere in between. One
 * address that is not allowed refuses the name.
 */
export function createGuardedLookup(isAllowed: IsAllowed, resolve: typeof lookup = lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0)
      const list = addresses as LookupAddress[] // of `all: true`
      const [first] = list
      if (!first || list.some(({ address }) => !isAllowed(address, hostname))) {
        return callback(new Error(notPublic), '', 0)
      }
      if (options.all) return callback(null, list)
      return callback(null, first.address, first.family)
    })
  }
}
