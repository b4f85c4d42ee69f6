import { chmodSync } from 'node:fs'
import { readSecretFile, writeSecretFile } from '#platform/secrets/secretFile.ts'
import { AccountId } from '#shared/ids.ts'
import { hashSecret } from '../base/secretToken.ts'
import type { AccountRepository } from './accountRepository.ts'
import { createKeyRecord, keyTokens } from './apiKeys.ts'

/**
 * Creates the owner's account at the first start, and a key file that only this OS user can read. An existing file
 * stays valid. If the file was lost, its key is revoked and a new one is written.
 */
export function ensureOwner(options: {
  accounts: AccountRepository
  keyFile: string
  now: () => number
  randomBytes: (count: number) => Buffer
}): AccountId {
  const { accounts, keyFile, now, randomBytes } = options
  const ownerId = accounts.findOwner()?.id ?? addOwner(options)
  const filed = readKey(keyFile)
  if (filed !== undefined && accounts.findHolder(hashSecret(filed))?.accountId === ownerId) {
    chmodSync(keyFile, 0o600)
    return ownerId
  }
  // The database has no owner key, so it was lost. The key in the file stays valid.
  const adopted = filed !== undefined && !accounts.hasOwnerFileKey(ownerId)
  const key = adopted ? filed : keyTokens.create(randomBytes)
  accounts.atomically(() => {
    accounts.removeOwnerFileKeys(ownerId)
    accounts.addKey(
      createKeyRecord({ accountId: ownerId, name: 'Owner key', key, inOwnerFile: true, nowMs: now(), randomBytes }),
    )
  })
  writeSecretFile(keyFile, `${key}\n`)
  return ownerId
}

function addOwner(options: {
  accounts: AccountRepository
  now: () => number
  randomBytes: (count: number) => Buffer
}): AccountId {
  const id = AccountId.parse(`acct_${options.randomBytes(12).toString('hex')}`)
  options.accounts.addAccount({ id, role: 'owner', name: 'Owner', createdAtMs: options.now() })
  return id
}

function readKey(file: string): string | undefined {
  const text = readSecretFile(file)
  return text !== undefined && keyTokens.isOne(text) ? text : undefined // an invalid key is replaced
}
