import { expect, test } from 'vitest'
import { migrate } from '../migrate.ts'
import { openDatabase } from '../sqlite/openDatabase.ts'
import { registrars } from './registrars.ts'
import { serviceMigrations } from './serviceMigrations.ts'

test('assigns existing domains and orders to the test registry', () => {
  const database = openDatabase(':memory:')
  try {
    migrate(
      database,
      serviceMigrations.filter(({ version }) => version < registrars.version),
    )
    database.exec(`
      INSERT INTO accounts VALUES ('acc_ada', 'user', 'Ada', 0);
      INSERT INTO domains VALUES ('example.com', 'acc_ada', 'active', 1, 2, 0, 1, 1, '["ns1.example.net"]', 3, NULL);
      INSERT INTO domain_zones VALUES ('example.com', '[]', 4);
      INSERT INTO domain_orders VALUES ('pay_1', 1, 'acc_ada', 'example.com', 'registration', 1, 1095, NULL, 'asked', 5);
    `)
    migrate(database, serviceMigrations)
    expect(database.prepare('SELECT * FROM domains').all()).toEqual([
      {
        ...{ registrar: 'local', name: 'example.com', account_id: 'acc_ada', status: 'active', registered_at_ms: 1 },
        ...{ expires_at_ms: 2, auto_renew: 0, privacy: 1, locked: 1, nameservers: '["ns1.example.net"]' },
        ...{ read_at_ms: 3, failed_at_ms: null, left_at_ms: null },
      },
    ])
    expect(database.prepare('SELECT id, registrar, state FROM domain_orders').all()).toEqual([
      { id: 'pay_1', registrar: 'local', state: 'asked' },
    ])
    const again = database.prepare(
      `INSERT INTO domain_orders VALUES (?, ?, 'acc_ada', 'example.com', 'renewal', 1, 1, NULL, 'leased', 6, ?)`,
    )
    expect(() => again.run('pay_2', 2, 'local')).toThrow(/UNIQUE/)
    expect(again.run('pay_3', 3, 'namesilo').changes).toBe(1)
    expect(database.pragma('foreign_key_check')).toEqual([])
  } finally {
    database.close()
  }
})
