import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { accountRepository } from '#service/accounts/accountRepository.ts'
import { createActivityLog } from '#service/activity/activityLog.ts'
import { createLinkedWallets } from '#service/auth/linkedWallets.ts'
import { walletRepository } from '#service/auth/walletRepository.ts'
import type { Caller } from '#service/base/endpoint.ts'
import { AppError } from '#shared/appError.ts'
import { AccountId } from '#shared/ids.ts'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createSqliteStore } from '#storage/sqlite/sqliteStore.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

let database: Database
beforeEach(() => {
  database = openDatabase(join(temporaryFolder('linked-wallets'), 'data.sqlite'))
  migrate(database, serviceMigrations)
})
afterEach(() => database.close())

test('does not link a wallet when the caller ends during signature verification', async () => {
  const store = createSqliteStore(database)
  const accountId = AccountId.parse('acct_1')
  await store.write((tx) =>
    accountRepository.addAccount(tx, { id: accountId, role: 'user', name: 'Ada', createdAtMs: 0 }),
  )
  const activity = createActivityLog({
    ...{ store, now: () => 0, onRecorded() {} },
    ...{ newId: () => randomBytes(4).toString('hex'), by: () => ({ kind: 'service', name: null }), task: () => null },
    log: silentLog,
  })
  const { promise: verified, resolve: verify } = Promise.withResolvers<void>()
  const wallet = { type: 'evm', address: '0x5d38E6C1923492247511a01b49e34A26cacD6811' } as const
  const wallets = createLinkedWallets({
    checks: { verify: () => verified.then(() => wallet) },
    writeRecorded: activity.writeRecorded,
    requests: { withdraw: async () => false, announce() {} },
    keys: { revokeIssuedBy: async () => [], forget() {} },
    principals: { endAbsent: async () => {} },
    now: () => 0,
  })
  let hasEnded = false
  const caller = { accountId } as Caller
  const link = () =>
    wallets.link(caller, { message: '', signature: '', chainType: 'evm', host: 'localhost' }, async () => {
      if (hasEnded) throw new AppError('auth/invalid', 'This sign-in has ended.')
    })
  const linking = link()
  hasEnded = true
  verify()
  await expect(linking).rejects.toMatchObject({ code: 'auth/invalid' })
  expect([await walletRepository.list(store.read, accountId), await activity.ofAccount(accountId, 0, 10)]).toEqual([
    [],
    [],
  ])
  hasEnded = false
  expect(await link()).toMatchObject(wallet)
  expect(await walletRepository.list(store.read, accountId)).toHaveLength(1)
})
