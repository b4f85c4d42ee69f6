import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createWalletRepository } from './walletRepository.ts'
import { createWalletSettings } from './walletSettings.ts'

function openSettings() {
  const database = openDatabase(':memory:')
  onTestFinished(() => void database.close())
  migrate(database, agentMigrations)
  const repository = createWalletRepository(database)
  for (const id of ['first', 'second']) {
    const row = { kind: 'phrase', label: id, words: 12, written_down: true, created_at_ms: 1 } as const
    repository.addKeyring({ ...row, id: `keyring ${id}` })
    const account = { chain_type: 'evm', address: `0x${id}`, path: null, label: id, created_at_ms: 1 } as const
    repository.addAccount({ ...account, id, keyring_id: `keyring ${id}` })
  }
  return createWalletSettings(repository)
}

test('a removed default account is replaced by the first on its chain', () => {
  const settings = openSettings()
  settings.setDefault('evm', 'second')
  expect(settings.defaultAccount('evm')?.id).toBe('second')
  settings.removeKeyring('keyring second')
  expect(settings.defaultAccount('evm')?.id).toBe('first')
})

test('lists a keyring as being removed until its secret is deleted', () => {
  const settings = openSettings()
  settings.removeKeyring('keyring second')
  expect(settings.removing()).toEqual(['keyring second'])
  settings.removed('keyring second')
  expect(settings.removing()).toEqual([])
})
