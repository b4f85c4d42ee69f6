import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { openTestWallet, type TestWallet } from '#test/support/fixtures/openTestWallet.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { deriveAccountId } from './accountIds.ts'

const passphrase = 'correct horse battery'
const junk = 'test test test test test test test test test test test junk'
let opened: TestWallet

beforeEach(() => {
  opened = openTestWallet({ folder: temporaryFolder('account-ids') })
})
afterEach(() => opened.close())

const addJunk = () => opened.wallet.addPhrase({ phrase: junk, writtenDown: true, passphrase })
function inDatabase<T>(use: (database: Database) => T): T {
  const database = openDatabase(join(opened.folder, 'agent.sqlite'))
  try {
    return use(database)
  } finally {
    database.close()
  }
}

test('importing a removed phrase again restores the same account ids', async () => {
  const { id, accounts } = await addJunk()
  expect(accounts.map((account) => account.id)).toEqual(
    accounts.map(({ chain_type, address }) => deriveAccountId(chain_type, address)),
  )
  await opened.wallet.remove(id, { typedLabel: 'Phrase 1', passphrase })
  const again = await addJunk()
  expect(again.id).not.toBe(id)
  expect(again.accounts.map((account) => account.id)).toEqual(accounts.map((account) => account.id))
})

test('migrates account ids of an older version and all references to them', async () => {
  const { accounts } = await addJunk()
  const [evm, solana] = accounts
  if (!evm || !solana) throw new Error('A phrase has two accounts.')
  opened.close()
  // The two accounts also swap ids, and neither must overwrite the other.
  const old = new Map([
    [evm.id as string, solana.id as string],
    [solana.id as string, `wal_${'b'.repeat(24)}`],
  ])
  const references = () =>
    inDatabase((database) => ({
      accounts: database.prepare('SELECT chain_type, id FROM wallet_accounts ORDER BY chain_type').all(),
      balances: database.prepare('SELECT account_id FROM balances').all(),
      grants: database.prepare('SELECT account_id FROM grants ORDER BY id').all(),
      intents: database
        .prepare(
          `SELECT json_extract(intent, '$.account_id') AS asked, json_extract(record, '$.account_id') AS record FROM intents`,
        )
        .all(),
      setting: database.prepare(`SELECT value FROM agent_settings WHERE key = 'wallet.default_accounts'`).all(),
    }))
  inDatabase((database) => {
    const oldEvm = old.get(evm.id) ?? ''
    const oldSolana = old.get(solana.id) ?? ''
    database.pragma('foreign_keys = OFF')
    database.prepare(`UPDATE wallet_accounts SET id = 'x' WHERE id = ?`).run(evm.id)
    database.prepare('UPDATE wallet_accounts SET id = ? WHERE id = ?').run(oldSolana, solana.id)
    database.prepare(`UPDATE wallet_accounts SET id = ? WHERE id = 'x'`).run(oldEvm)
    database
      .prepare(
        `INSERT INTO balances (account_id, network, usdc, coin, as_of_ms) VALUES (?, 'eip155:8453', '1', '2', 3)`,
      )
      .run(oldEvm)
    const grant = database.prepare(
      `INSERT INTO grants (id, kind, requester, account_id, created_at_ms) VALUES (?, 'x402.authorize', '{}', ?, 0)`,
    )
    grant.run('grant_1', oldEvm)
    grant.run('grant_2', oldSolana)
    database
      .prepare(
        `INSERT INTO intents (id, kind, state, requester_kind, requester_id, intent, record, created_at_ms, expires_at_ms)
         VALUES ('int_1', 'siwe', 'signed', 'person', 'p', json_object('account_id', @id), json_object('account_id', @id), 0, 0)`,
      )
      .run({ id: oldEvm })
    database
      .prepare(
        `INSERT OR REPLACE INTO agent_settings VALUES ('wallet.default_accounts', json_object('evm', ?, 'solana', ?))`,
      )
      .run(oldEvm, oldSolana)
  })
  opened = openTestWallet({ folder: opened.folder })
  expect(references()).toEqual({
    accounts: [
      { chain_type: 'evm', id: evm.id },
      { chain_type: 'solana', id: solana.id },
    ],
    balances: [{ account_id: evm.id }],
    grants: [{ account_id: evm.id }, { account_id: solana.id }],
    intents: [{ asked: evm.id, record: evm.id }],
    setting: [{ value: JSON.stringify({ evm: evm.id, solana: solana.id }) }],
  })
  expect(inDatabase((database) => database.pragma('foreign_key_check'))).toEqual([])
})
