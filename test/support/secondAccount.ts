import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createAccountRepository } from '#service/accounts/accountRepository.ts'
import { createApiKeys, createKeyRecord, keyTokens } from '#service/accounts/apiKeys.ts'
import { AccountId } from '#shared/ids.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'

/**
 * Adds a second account to a service that may be running. Returns an API key of it, or one that manages the account.
 */
export function secondAccount(dataDir: string, { managesAccount = false } = {}): { accountId: AccountId; key: string } {
  const database = openDatabase(join(dataDir, 'service.sqlite'))
  try {
    const accounts = createAccountRepository(database)
    const accountId = AccountId.parse(`acct_${randomBytes(12).toString('hex')}`)
    accounts.addAccount({ id: accountId, role: 'user', name: 'Somebody else', createdAtMs: Date.now() })
    if (!managesAccount)
      return { accountId, key: createApiKeys({ accounts, now: Date.now, randomBytes }).create(accountId, 'first').key }
    const key = keyTokens.create(randomBytes)
    accounts.addKey(
      createKeyRecord({ accountId, name: 'first', key, inOwnerFile: true, nowMs: Date.now(), randomBytes }),
    )
    return { accountId, key }
  } finally {
    database.close()
  }
}
