import { expect, test } from 'vitest'
import { migrate } from '../../migrate.ts'
import { openDatabase } from '../../sqlite/openDatabase.ts'
import { agentMigrations } from './agentMigrations.ts'
import { referencesByService } from './referencesByService.ts'

test('preserves comparisons of an earlier version and deletes them with their account', () => {
  const database = openDatabase(':memory:')
  migrate(
    database,
    agentMigrations.filter(({ version }) => version < referencesByService.version),
  )
  database.exec(`
    INSERT INTO compared_accounts (account_id, removed_through, comparison) VALUES ('acc_1', 7, 3), ('acc_2', 0, 4);
    INSERT INTO known_things (account_id, kind, thing, name) VALUES ('acc_1', 'sandbox', 's1', 'atlas'),
      ('acc_2', 'domain', 'a.example', 'a.example');`)
  migrate(database, agentMigrations)
  const things = () => database.prepare('SELECT service, account_id, thing FROM known_things ORDER BY thing').all()
  expect(database.prepare('SELECT * FROM compared_accounts ORDER BY account_id').all()).toEqual([
    { service: '', account_id: 'acc_1', removed_through: 7, comparison: 3 },
    { service: '', account_id: 'acc_2', removed_through: 0, comparison: 4 },
  ])
  expect(things()).toEqual([
    { service: '', account_id: 'acc_2', thing: 'a.example' },
    { service: '', account_id: 'acc_1', thing: 's1' },
  ])
  database.exec("UPDATE compared_accounts SET service = 'embedded' WHERE account_id = 'acc_1'")
  database.exec("DELETE FROM compared_accounts WHERE account_id = 'acc_2'")
  expect(things()).toEqual([{ service: 'embedded', account_id: 'acc_1', thing: 's1' }])
  database.close()
})
