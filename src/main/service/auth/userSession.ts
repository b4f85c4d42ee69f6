import { timingSafeEqual } from 'node:crypto'
import type { AccountId } from '#shared/ids.ts'
import type { Caller } from '../base/endpoint.ts'
import { hashSecret } from '../base/secretToken.ts'

/**
 * Authenticates the user at this computer by a key that the application generates at each start and shares only with
 * its own service. This principal has all rights of the owner's key, and some that no API key has.
 */
export function createUserSession(options: {
  owner: AccountId
  /** Id of the key in the owner's file. */
  keyId: string | undefined
  /** @returns undefined if no application runs the service, or the application has not sent the key yet */
  key: () => string | undefined
}): (credential: string) => Caller | undefined {
  const { owner, keyId, key } = options
  return (credential) => {
    const expected = key()
    if (expected === undefined || !timingSafeEqual(hashSecret(credential), hashSecret(expected))) return undefined
    return {
      accountId: owner,
      principal: 'person:window',
      owner: true,
      managesAccount: true,
      isPerson: true,
      onlySandbox: undefined,
      keyId,
      wallet: undefined,
    }
  }
}
