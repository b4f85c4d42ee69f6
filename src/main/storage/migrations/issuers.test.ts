import { expect, test } from 'vitest'
import { migrate } from '../migrate.ts'
import { openDatabase } from '../sqlite/openDatabase.ts'
import { issuers } from './issuers.ts'
import { serviceMigrations } from './serviceMigrations.ts'

test('preserves existing credentials without an issuer and deletes later ones with their issuer', () => {
  const database = openDatabase(':memory:')
  try {
    migrate(
      database,
      serviceMigrations.filter(({ version }) => version < issuers.version),
    )
    const sandbox = 'a'.repeat(32)
    database.exec(`
      INSERT INTO accounts VALUES ('acc_ada', 'user', 'Ada', 0);
      INSERT INTO account_wallets VALUES ('eip155:1:0x1', 'acc_ada', 'evm', '0x1', 0);
      INSERT INTO api_keys (id, account_id, name, hash, prefix, in_owner_file, created_at_ms)
        VALUES ('key_old', 'acc_ada', 'old', randomblob(32), 'sk', 0, 0);
      INSERT INTO sandboxes (id, account_id, name, vcpu, memory_mb, disk_gb, region, runtime, enforced, status, created_at_ms)
        VALUES ('${sandbox}', 'acc_ada', 'one', 1, 512, 1, 'eu-north', 'bubblewrap', '{}', 'stopped', 0);
      INSERT INTO ports VALUES ('${sandbox}', 80, 'private', NULL);
      INSERT INTO terminal_links VALUES (zeroblob(32), '${sandbox}', 'acc_ada', 9);
      INSERT INTO port_tokens VALUES (zeroblob(32), '${sandbox}', 80, 9);
    `)
    migrate(database, serviceMigrations)
    database.exec(`
      INSERT INTO api_keys (id, account_id, name, hash, prefix, in_owner_file, created_at_ms, issuer_caip10, issuer_sign_in)
        VALUES ('key_new', 'acc_ada', 'new', randomblob(32), 'sk', 0, 0, 'eip155:1:0x1', 'fam_1');
      INSERT INTO terminal_links VALUES (randomblob(32), '${sandbox}', 'acc_ada', 9, 'key_new', NULL);
      INSERT INTO port_tokens VALUES (randomblob(32), '${sandbox}', 80, 9, 'key_new', NULL);
      DELETE FROM account_wallets;
    `)
    const count = (table: string) => database.prepare(`SELECT count(*) FROM ${table}`).pluck().get()
    expect(database.prepare('SELECT id FROM api_keys').all()).toEqual([{ id: 'key_old' }])
    expect([count('terminal_links'), count('port_tokens')]).toEqual([1, 1])
  } finally {
    database.close()
  }
})
