import { timingSafeEqual } from 'node:crypto'
import type { AccountId } from '#shared/ids.ts'
import type { AccountRepository } from '../accounts/accountRepository.ts'
import type { Caller } from '../base/endpoint.ts'
import { hashSecret } from '../base/secretToken.ts'

/**
 * Recognises the person at this machine by a key that the application generates at each start and gives only to its own
 * service. It may do everything the owner's key may, and what no API key may.
 */
export function createPersonSession(options: {
  owner: AccountId
  accounts: Pick<AccountRepository, 'listKeys'>
  /** Returns undefined if no application runs the service, or it has not sent the key yet. */
  key: () => string | undefined
}): (credential: string) => Caller | undefined {
  const { owner, accounts, key } = options
  const keyId = accounts.listKeys(owner).find(({ inOwnerFile }) => inOwnerFile)?.id
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
