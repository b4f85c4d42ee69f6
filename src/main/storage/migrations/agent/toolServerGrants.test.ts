import { expect, test } from 'vitest'
import { migrate } from '../../migrate.ts'
import { openDatabase } from '../../sqlite/openDatabase.ts'
import { agentMigrations } from './agentMigrations.ts'
import { toolServerGrants } from './toolServerGrants.ts'

test('deletes grants that identify a tool server by name and preserves others', () => {
  const database = openDatabase(':memory:')
  migrate(
    database,
    agentMigrations.filter(({ version }) => version < toolServerGrants.version),
  )
  const scopes = {
    served: ['tool.call', 'box__look box 0123456789abcdef'],
    builtIn: ['tool.call', 'sandbox_delete 0123'],
    payee: ['x402.authorize', 'eip155:8453:0x__'],
    message: ['message', null],
  } as const
  database.pragma('foreign_keys = OFF')
  const insert = database.prepare(
    `INSERT INTO grants (id, kind, asker, scope, account_id, created_at_ms) VALUES (?, ?, '{}', ?, 'wal_1', 1)`,
  )
  for (const [id, [kind, scope]] of Object.entries(scopes)) insert.run(id, kind, scope)
  migrate(database, agentMigrations)
  const ids = database.prepare<[], { id: string }>('SELECT id FROM grants ORDER BY id').all()
  expect(ids.map(({ id }) => id)).toEqual(['builtIn', 'message', 'payee'])
  database.close()
})
