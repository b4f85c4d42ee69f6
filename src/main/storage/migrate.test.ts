import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Migration, migrate, readSchemaVersion } from './migrate.ts'
import { agentMigrations } from './migrations/agent/agentMigrations.ts'
import { serviceMigrations } from './migrations/serviceMigrations.ts'
import { type Database, openDatabase } from './sqlite/openDatabase.ts'

const first: Migration = { version: 1, up: 'CREATE TABLE notes (text TEXT NOT NULL) STRICT;' }
const second: Migration = { version: 2, up: 'ALTER TABLE notes ADD COLUMN at_ms INTEGER;' }

let folder: string
let database: Database

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'steward-storage-'))
  database = openDatabase(join(folder, 'data.sqlite'))
})
afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true })
})

test('opens the database and its WAL with mode 0600', () => {
  migrate(database, [first])
  expect(statSync(join(folder, 'data.sqlite')).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, 'data.sqlite-wal')).mode & 0o777).toBe(0o600)
  expect(database.pragma('journal_mode', { simple: true })).toBe('wal')
  expect(database.pragma('foreign_keys', { simple: true })).toBe(1)
})

test('names the file that cannot be opened', () => {
  expect(() => openDatabase(join(folder, 'missing', 'data.sqlite'))).toThrow(
    expect.objectContaining({ code: 'data/unusable', message: expect.stringContaining(join(folder, 'missing')) }),
  )
})

test('applies each migration once and preserves existing rows', () => {
  migrate(database, [first])
  database.exec(`INSERT INTO notes (text) VALUES ('kept')`)
  migrate(database, [first, second])
  migrate(database, [first, second])
  expect(readSchemaVersion(database)).toBe(2)
  expect(database.prepare('SELECT * FROM notes').all()).toEqual([{ text: 'kept', at_ms: null }])
})

test('rolls back a migration that fails', () => {
  const broken: Migration = { version: 2, up: 'CREATE TABLE half (a TEXT) STRICT; CREATE TABLE notes (b TEXT) STRICT;' }
  expect(() => migrate(database, [first, broken])).toThrow('already exists')
  expect(readSchemaVersion(database)).toBe(1)
  expect(database.prepare(`SELECT name FROM sqlite_schema WHERE name = 'half'`).all()).toEqual([])
})

test('rejects a file with a newer schema', () => {
  migrate(database, [first, second])
  expect(() => migrate(database, [first])).toThrow(
    expect.objectContaining({
      code: 'data/newer',
      message: expect.stringContaining('schema 2; this one knows up to 1'),
    }),
  )
})

describe('the service schema', () => {
  const upTo = (version: number) => serviceMigrations.filter((it) => it.version <= version)

  test('numbers its versions from 1 without gaps', () => {
    expect(serviceMigrations.map((it) => it.version)).toEqual(serviceMigrations.map((_, index) => index + 1))
  })

  test('2 preserves the accounts and keys of 1', () => {
    migrate(database, upTo(1))
    addAccount('ada')
    migrate(database, upTo(2))
    expect(database.prepare('SELECT id, role FROM accounts').all()).toEqual([{ id: 'ada', role: 'owner' }])
    expect(database.prepare('SELECT name FROM api_keys').all()).toEqual([{ name: 'first' }])
  })

  test('3 preserves the sandboxes of 2', () => {
    migrate(database, upTo(2))
    addAccount('ada')
    addSandbox('a'.repeat(32), 'ada')
    migrate(database, upTo(3))
    expect(database.prepare('SELECT id, status FROM sandboxes').all()).toEqual([
      { id: 'a'.repeat(32), status: 'stopped' },
    ])
  })

  test('4 preserves the sandboxes of 3', () => {
    migrate(database, upTo(3))
    addAccount('ada')
    addSandbox('a'.repeat(32), 'ada')
    migrate(database, upTo(4))
    expect(database.prepare('SELECT id FROM sandboxes').all()).toEqual([{ id: 'a'.repeat(32) }])
  })

  test('5 preserves the sandboxes of 4 and deletes ports with them', () => {
    migrate(database, upTo(4))
    addAccount('ada')
    addSandbox('a'.repeat(32), 'ada')
    migrate(database, upTo(5))
    expect(database.prepare('SELECT id FROM sandboxes').all()).toEqual([{ id: 'a'.repeat(32) }])
    database.exec(`INSERT INTO ports VALUES ('${'a'.repeat(32)}', 80, 'public', NULL)`)
    database.exec(`INSERT INTO port_tokens VALUES (randomblob(32), '${'a'.repeat(32)}', 80, 1)`)
    database.exec('DELETE FROM sandboxes')
    expect(database.prepare('SELECT * FROM ports').all()).toEqual([])
    expect(database.prepare('SELECT * FROM port_tokens').all()).toEqual([])
  })

  test('8 preserves the sandboxes of 7 and deletes uploads with them', () => {
    migrate(database, upTo(7))
    addAccount('ada')
    addSandbox('a'.repeat(32), 'ada')
    migrate(database, upTo(8))
    expect(database.prepare('SELECT id FROM sandboxes').all()).toEqual([{ id: 'a'.repeat(32) }])
    database.exec(
      `INSERT INTO uploads VALUES ('upl_${'0'.repeat(24)}', '${'a'.repeat(32)}', '/x', '/x', '/.x', 2, 1, 0, NULL, NULL, NULL, 0, 1)`,
    )
    database.exec('DELETE FROM sandboxes')
    expect(database.prepare('SELECT * FROM uploads').all()).toEqual([])
  })

  test('9 preserves accounts and keys of 8 and deletes wallets and sessions with an account', () => {
    migrate(database, upTo(8))
    addAccount('ada')
    migrate(database, upTo(9))
    expect(database.prepare('SELECT id FROM accounts').all()).toEqual([{ id: 'ada' }])
    expect(database.prepare('SELECT name FROM api_keys').all()).toEqual([{ name: 'first' }])
    database.exec(`INSERT INTO account_wallets VALUES ('eip155:8453:0x0', 'ada', 'evm', '0x0', 1)`)
    database.exec(`INSERT INTO refresh_tokens VALUES (randomblob(32), 'f', 'ada', 'eip155:8453:0x0', 1, 2, NULL, NULL)`)
    database.exec('DELETE FROM accounts')
    expect(database.prepare('SELECT * FROM account_wallets').all()).toEqual([])
    expect(database.prepare('SELECT * FROM refresh_tokens').all()).toEqual([])
  })

  test('10 preserves the accounts of 9', () => {
    migrate(database, upTo(9))
    addAccount('ada')
    migrate(database, upTo(10))
    expect(database.prepare('SELECT id FROM accounts').all()).toEqual([{ id: 'ada' }])
  })

  test('11 preserves the sandboxes of 10', () => {
    migrate(database, upTo(10))
    addAccount('ada')
    addSandbox('a'.repeat(32), 'ada')
    migrate(database, upTo(11))
    expect(database.prepare('SELECT id FROM sandboxes').all()).toEqual([{ id: 'a'.repeat(32) }])
  })

  test('12 preserves the accounts of 11', () => {
    migrate(database, upTo(11))
    addAccount('ada')
    migrate(database, upTo(12))
    expect(database.prepare('SELECT id FROM accounts').all()).toEqual([{ id: 'ada' }])
  })

  test('13 preserves the domains of 12 and accepts domains without a port', () => {
    migrate(database, upTo(12))
    addAccount('ada')
    addSandbox('a'.repeat(32), 'ada')
    database.exec(`INSERT INTO sandbox_domains VALUES ('one.example', '${'a'.repeat(32)}', 80, 7)`)
    migrate(database, upTo(13))
    database.exec(`INSERT INTO sandbox_domains VALUES ('two.example', '${'a'.repeat(32)}', NULL, 8)`)
    expect(database.prepare('SELECT domain, port, created_at_ms FROM sandbox_domains').all()).toEqual([
      { domain: 'one.example', port: 80, created_at_ms: 7 },
      { domain: 'two.example', port: null, created_at_ms: 8 },
    ])
    database.exec('DELETE FROM sandboxes')
    expect(database.prepare('SELECT * FROM sandbox_domains').all()).toEqual([])
  })

  test('15 preserves accounts and keys of 14 and leaves the keys without limits', () => {
    migrate(database, upTo(14))
    addAccount('ada')
    migrate(database, upTo(15))
    expect(database.prepare('SELECT name, models, daily_limit_micro_usd AS dailyLimit FROM api_keys').all()).toEqual([
      { name: 'first', models: null, dailyLimit: null },
    ])
    expect(database.prepare('SELECT id, debits, credits, held FROM credit_accounts').all()).toEqual([
      { id: 'service:issued', debits: 0, credits: 0, held: 0 },
      { id: 'service:revenue', debits: 0, credits: 0, held: 0 },
    ])
  })

  test('16 preserves the journal of 15, sums it by day and accepts adjustments', () => {
    migrate(database, upTo(15))
    database.exec(`
      INSERT INTO credit_accounts (id, kind, credits) VALUES ('ada', 'user', 100), ('bob', 'user', 0);
      INSERT INTO credit_transfers (id, type, debit_account, credit_account, amount, debit_balance, credit_balance,
        description, key_id, refund_of, at_ms) VALUES
        ('a', 'grant', 'service:issued', 'ada', 100, 0, 0, 'First', NULL, NULL, 0),
        ('b', 'inference', 'ada', 'service:revenue', 9, 0, 0, 'gpt-5.2', 'key_1', NULL, 86400000),
        ('c', 'inference', 'ada', 'service:revenue', 4, 0, 0, 'gpt-5.2', 'key_1', NULL, 86400001),
        ('d', 'refund', 'service:revenue', 'ada', 5, 0, 0, 'Sorry', NULL, 'b', 172800000),
        ('e', 'transfer', 'ada', 'bob', 7, 0, 0, 'Thanks', 'key_1', NULL, 172800000)`)
    const before = database.prepare('SELECT * FROM credit_transfers ORDER BY sequence').all()
    migrate(database, upTo(16))
    const days = () =>
      database
        .prepare<[], Record<string, unknown>>('SELECT * FROM credit_days ORDER BY account_id, day, type')
        .all()
        .map((row) => Object.values(row).join(' '))
    expect(database.prepare('SELECT * FROM credit_transfers ORDER BY sequence').all()).toEqual(before)
    expect(days()).toEqual([
      'ada 0 grant   1 0 100',
      'ada 1 inference gpt-5.2 key_1 2 13 0',
      'ada 2 refund gpt-5.2 key_1 1 0 5',
      'ada 2 transfer  key_1 1 7 0',
      'bob 2 transfer   1 0 7',
    ])
    database.exec(`INSERT INTO credit_transfers (id, type, debit_account, credit_account, amount, debit_balance,
      credit_balance, description, key_id, refund_of, at_ms) VALUES
      ('f', 'adjustment', 'ada', 'service:issued', 3, 0, 0, 'Less', NULL, NULL, 0),
      ('g', 'refund', 'service:revenue', 'ada', 1, 0, 0, '', NULL, 'b', 172800000),
      ('h', 'inference', 'ada', 'service:revenue', 1, 0, 0, 'gpt-5.2', 'key_1', NULL, 86400002)`)
    expect(days()).toEqual([
      'ada 0 adjustment   1 3 0',
      'ada 0 grant   1 0 100',
      'ada 1 inference gpt-5.2 key_1 3 14 0',
      'ada 2 refund gpt-5.2 key_1 2 0 6',
      'ada 2 transfer  key_1 1 7 0',
      'bob 2 transfer   1 0 7',
    ])
    expect(database.pragma('foreign_key_check')).toEqual([])
  })

  test('rejects an overdraft, a second end of a hold and journal changes', () => {
    migrate(database, serviceMigrations)
    database.exec(`INSERT INTO credit_accounts (id, kind, credits) VALUES ('ada', 'user', 10)`)
    expect(() => database.exec(`UPDATE credit_accounts SET held = 11 WHERE id = 'ada'`)).toThrow('CHECK')
    database.exec(
      `INSERT INTO credit_holds (account_id, amount, model, created_at_ms, expires_at_ms) VALUES ('ada', 1, 'm', 0, 1)`,
    )
    expect(() => database.exec('DELETE FROM credit_holds')).toThrow('an open hold is not removed')
    database.exec(`UPDATE credit_holds SET state = 'voided', ended_at_ms = 1`)
    expect(() => database.exec(`UPDATE credit_holds SET state = 'posted'`)).toThrow('a hold ends once')
    const post = (id: string, amount: number) =>
      database
        .prepare(
          `INSERT INTO credit_transfers (id, type, debit_account, credit_account, amount, debit_balance, credit_balance,
             description, hold_id, at_ms) VALUES (?, 'inference', 'ada', 'service:revenue', ?, 0, 0, '', 1, 0)`,
        )
        .run(id, amount)
    expect(() => post('a', -1)).toThrow('CHECK')
    post('a', 1)
    expect(() => post('b', 1)).toThrow('UNIQUE')
    expect(() => database.exec('UPDATE credit_transfers SET amount = 2')).toThrow('the journal only grows')
    expect(() => database.exec('DELETE FROM credit_transfers')).toThrow('the journal only grows')
  })

  test('stores one payment per authorization and rejects changes to its outcome', () => {
    migrate(database, upTo(16))
    addAccount('ada')
    migrate(database, serviceMigrations)
    const add = (id: string) =>
      database
        .prepare(
          `INSERT INTO payments (id, network, asset, payer, nonce, operation, account_id, method, path, body_hash,
             authorization, amount, purchase, state, next_at_ms, created_at_ms)
           VALUES (?, 'n', 'a', 'p', '1', 'o', 'ada', 'GET', '/', x'00', '{}', 1, '{}', 'verifying', 0, 0)`,
        )
        .run(id)
    add('one')
    expect(() => add('two')).toThrow('UNIQUE')
    expect(() => database.exec(`UPDATE payments SET state = 'settled', work = 'begun'`)).toThrow('CHECK')
    database.exec(`UPDATE payments SET state = 'settled', work = 'begun', transaction_hash = '0x'`)
    expect(() => database.exec(`UPDATE payments SET state = 'failed', work = 'none'`)).toThrow('settles once')
    database.exec(`UPDATE payments SET work = 'credited'`)
    expect(() => database.exec(`UPDATE payments SET work = 'done'`)).toThrow('is done once')
    expect(() => database.exec(`INSERT INTO test_money VALUES ('0x', -1)`)).toThrow('CHECK')
  })

  test('allows one owner and no start time for a stopped sandbox', () => {
    migrate(database, serviceMigrations)
    addAccount('ada')
    expect(() => database.exec(`INSERT INTO accounts VALUES ('bob', 'owner', 'Bob', 0)`)).toThrow('UNIQUE')
    addSandbox('b'.repeat(32), 'ada')
    expect(() => database.exec('UPDATE sandboxes SET started_at_ms = 1')).toThrow('CHECK')
  })
})

describe('the agent schema', () => {
  const upTo = (version: number) => agentMigrations.filter((it) => it.version <= version)
  const addWallet = () => {
    database.exec(`INSERT INTO keyrings VALUES ('keys_1', 'phrase', 'Main', 12, 1, 0)`)
    database.exec(`INSERT INTO wallet_accounts VALUES ('wal_1', 'keys_1', 'evm', '0x0', 'm', 'First', 0)`)
  }

  test('numbers its versions from 1 without gaps', () => {
    expect(agentMigrations.map((it) => it.version)).toEqual(agentMigrations.map((_, index) => index + 1))
  })

  test.each(agentMigrations.slice(1).map((it) => it.version))('%i preserves the wallet of 1', (version) => {
    migrate(database, upTo(version - 1))
    addWallet()
    migrate(database, upTo(version))
    expect(database.prepare('SELECT id FROM keyrings').all()).toEqual([{ id: 'keys_1' }])
    expect(database.prepare('SELECT id FROM wallet_accounts').all()).toEqual([{ id: 'wal_1' }])
  })

  test('5 preserves the intents of 4 without a grant or a confirmation', () => {
    migrate(database, upTo(4))
    database.exec(`INSERT INTO intents VALUES ('int_1', 'siwe', 'waiting', 'client', 'key:1', '{}', '{}', 0, 1)`)
    migrate(database, upTo(5))
    expect(database.prepare('SELECT id, grant_id, confirmed FROM intents').all()).toEqual([
      { id: 'int_1', grant_id: null, confirmed: 0 },
    ])
  })

  test('7 preserves the intents of 6, including damaged ones', () => {
    migrate(database, upTo(6))
    const add = database.prepare(
      `INSERT INTO intents (id, kind, state, asker_kind, asker_id, intent, record, created_at_ms, expires_at_ms)
       VALUES (?, 'siwe', 'denied', 'client', 'key:1', '{}', ?, 0, 1)`,
    )
    add.run('int_1', '{"decision":{"by":"person"}}')
    add.run('int_2', '{"decision":null}')
    add.run('int_3', '{')
    migrate(database, upTo(7))
    expect(database.prepare('SELECT id, kept_with FROM intents ORDER BY id').all()).toEqual([
      { id: 'int_1', kept_with: 'person' },
      { id: 'int_2', kept_with: 'client key:1' },
      { id: 'int_3', kept_with: 'client key:1' },
    ])
  })

  test('8 records the grant reserved for each approved intent', () => {
    migrate(database, upTo(7))
    const add = database.prepare(
      `INSERT INTO intents (id, kind, state, asker_kind, asker_id, intent, record, created_at_ms, expires_at_ms, grant_id)
       VALUES (?, 'siwe', ?, 'client', 'key:1', '{}', '{}', 0, 1, ?)`,
    )
    add.run('int_1', 'approved', 'grant_1')
    add.run('int_2', 'signed', 'grant_1')
    add.run('int_3', 'approved', null)
    migrate(database, upTo(8))
    expect(database.prepare('SELECT * FROM grant_reservations').all()).toEqual([
      { intent_id: 'int_1', grant_id: 'grant_1' },
    ])
    expect(database.prepare('SELECT id, state FROM intents').all()).toHaveLength(3)
  })

  test('33 renames fields in columns, records and policy rules', () => {
    migrate(database, upTo(32))
    const asker = { kind: 'client', id: 'key:1', name: 'ö "x"' }
    const addIntent = database.prepare(
      `INSERT INTO intents (id, kind, state, asker_kind, asker_id, intent, record, created_at_ms, expires_at_ms)
       VALUES (?, 'siwe', 'denied', 'client', 'key:1', '{}', ?, 0, 1)`,
    )
    addIntent.run('int_1', JSON.stringify({ id: 'int_1', asker, amount: 1234567890123 }))
    addIntent.run('int_2', '{')
    const rules = [1, 2, 3].map((number) => ({ id: `r${number}`, asker: number === 2 ? '*' : 'client', host: '*' }))
    database
      .prepare('INSERT OR REPLACE INTO policy (only, stopped, policy) VALUES (1, 0, ?)')
      .run(JSON.stringify({ expiry_minutes: 5, rules }))
    database
      .prepare(
        `INSERT INTO tool_servers (id, name, enabled, place, secrets, about) VALUES ('tsv_1', 'files', 1, '{}', '[]', ?)`,
      )
      .run(JSON.stringify({ calls_itself: 'filesystem', revision: null, listed_at_ms: 5, fault: null }))
    migrate(database, upTo(33))
    expect(JSON.parse(database.prepare('SELECT about FROM tool_servers').pluck().get() as string)).toEqual({
      ...{ server_name: 'filesystem', protocol_version: null, listed_at_ms: 5, fault: null },
    })
    const records = database.prepare('SELECT requester_id, kept_with, record FROM intents ORDER BY id').all()
    expect(records).toEqual([
      {
        ...{ requester_id: 'key:1', kept_with: 'client key:1' },
        record: JSON.stringify({ id: 'int_1', amount: 1234567890123, requester: asker }),
      },
      { requester_id: 'key:1', kept_with: 'client key:1', record: '{' },
    ])
    const { policy } = database.prepare('SELECT policy FROM policy').get() as { policy: string }
    expect(JSON.parse(policy)).toEqual({
      expiry_minutes: 5,
      rules: rules.map(({ asker: requester, ...rule }) => ({ ...rule, requester })),
    })
    expect(database.pragma('integrity_check')).toEqual([{ integrity_check: 'ok' }])
  })

  test('deletes accounts and their balances with a keyring', () => {
    migrate(database, agentMigrations)
    addWallet()
    database.exec(`INSERT INTO balances VALUES ('wal_1', 'eip155:8453', '1', '2', 3)`)
    database.exec('DELETE FROM keyrings')
    expect(database.prepare('SELECT * FROM wallet_accounts').all()).toEqual([])
    expect(database.prepare('SELECT * FROM balances').all()).toEqual([])
  })

  test('17 preserves log entries of 16 and indexes their text and links', () => {
    migrate(database, upTo(16))
    const hash = (digit: string) => digit.repeat(64)
    const add = database.prepare(
      `INSERT INTO timeline (sequence, at_ms, kind, actor_kind, actor_name, subject, summary, detail, previous_hash, hash)
       VALUES (?, 0, 'intent.asked', 'person', 'You', 'sb_1', 'You asked to pay', ?, ?, ?)`,
    )
    add.run(1, '{"intent_id":"int_1","sandbox_name":"atlas"}', hash('0'), hash('1'))
    add.run(2, 'somebody was here', hash('1'), hash('2'))
    migrate(database, upTo(17))
    expect(database.prepare('SELECT sequence, task, links FROM timeline').all()).toEqual([
      { sequence: 1, task: null, links: null },
      { sequence: 2, task: null, links: null },
    ])
    expect(database.prepare('SELECT kind, id, sequence FROM timeline_links ORDER BY kind').all()).toEqual([
      { kind: 'intent', id: 'int_1', sequence: 1 },
      { kind: 'sandbox', id: 'sb_1', sequence: 1 },
    ])
    const rows = database.prepare('SELECT rowid FROM timeline_index WHERE timeline_index MATCH ?')
    expect([rows.all('atlas'), rows.all('somebody')]).toEqual([[{ rowid: 1 }], [{ rowid: 2 }]])
  })

  test('rejects changes to and deletion of log entries', () => {
    migrate(database, agentMigrations)
    const hash = (digit: string) => digit.repeat(64)
    database
      .prepare(
        `INSERT INTO timeline (sequence, at_ms, kind, actor_kind, actor_name, subject, summary, detail, previous_hash, hash) VALUES (1, 0, 'a.b', 'person', 'You', NULL, 'It was.', '{}', ?, ?)`,
      )
      .run(hash('0'), hash('1'))
    expect(() => database.exec(`UPDATE timeline SET summary = 'It was not.'`)).toThrow('the log only grows')
    expect(() => database.exec('DELETE FROM timeline')).toThrow('the log only grows')
  })
})

function addAccount(id: string): void {
  database.prepare(`INSERT INTO accounts VALUES (?, 'owner', 'Ada', 0)`).run(id)
  database
    .prepare(`INSERT INTO api_keys (id, account_id, name, hash, prefix, in_owner_file, created_at_ms)
       VALUES (?, ?, 'first', randomblob(32), 'sk_steward_x', 0, 0)`)
    .run(`key of ${id}`, id)
}

function addSandbox(id: string, accountId: string): void {
  database
    .prepare(
      `INSERT INTO sandboxes (id, account_id, name, vcpu, memory_mb, disk_gb, region, runtime, enforced, status, created_at_ms)
       VALUES (?, ?, 'one', 1, 512, 1, 'eu-north', 'bubblewrap', '{}', 'stopped', 0)`,
    )
    .run(id, accountId)
}
