import { chmodSync } from 'node:fs'
import { readSecretFile, writeSecretFile } from '#platform/secrets/secretFile.ts'
import { AccountId } from '#shared/ids.ts'
import type { Store, Transaction } from '#storage/store.ts'
import { hashSecret } from '../base/secretToken.ts'
import { accountRepository } from './accountRepository.ts'
import { createKeyRecord, keyTokens } from './apiKeys.ts'

/**
 * Creates the owner's account at the first start, and a key file that only this OS user can read. An existing file
 * stays valid. If the file was lost, its key is revoked and a new one is written.
 */
export async function ensureOwner(options: {
  store: Store
  keyFile: string
  now: () => number
  randomBytes: (count: number) => Buffer
}): Promise<AccountId> {
  const { store, keyFile, now, randomBytes } = options
  const filed = readKey(keyFile)
  const { ownerId, key } = await store.write(async (tx) => {
    const ownerId = (await accountRepository.findOwner(tx))?.id ?? (await addOwner(tx, options))
    const holder = filed === undefined ? undefined : await accountRepository.findHolder(tx, hashSecret(filed))
    if (holder?.accountId === ownerId) return { ownerId, key: undefined }
    // The database has no owner key, so it was lost. The key in the file stays valid.
    const isAdopted = filed !== undefined && !(await accountRepository.hasOwnerFileKey(tx, ownerId))
    const key = isAdopted ? filed : keyTokens.create(randomBytes)
    await accountRepository.removeOwnerFileKeys(tx, ownerId)
    await accountRepository.addKey(
      tx,
      createKeyRecord({ accountId: ownerId, name: 'Owner key', key, inOwnerFile: true, nowMs: now(), randomBytes }),
    )
    return { ownerId, key }
  })
  if (key === undefined) chmodSync(keyFile, 0o600)
  else writeSecretFile(keyFile, `${key}\n`)
  return ownerId
}

async function addOwner(
  tx: Transaction,
  { now, randomBytes }: { now: () => number; randomBytes: (count: number) => Buffer },
): Promise<AccountId> {
  const id = AccountId.parse(`acct_${randomBytes(12).toString('hex')}`)
  await accountRepository.addAccount(tx, { id, role: 'owner', name: 'Owner', createdAtMs: now() })
  return id
}

function readKey(file: string): string | undefined {
  const text = readSecretFile(file)
  return text !== undefined && keyTokens.isOne(text) ? text : undefined // an invalid key is replaced
}
