import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { keptKeys } from '../../src/main/agent/providers/keptKeys.ts'
import { providerKeyRepository } from '../../src/main/agent/providers/providerKeyRepository.ts'
import { sealedKeys } from '../../src/main/agent/providers/sealedKeys.ts'
import { walletPlaces } from '../../src/main/agent/wallet/walletPlaces.ts'
import { keychainSecretStore } from '../../src/main/platform/keychainSecretStore.ts'
import { vaultFileSecretStore } from '../../src/main/platform/vaultFileSecretStore.ts'
import { migrate } from '../../src/main/storage/migrate.ts'
import { agentMigrations } from '../../src/main/storage/migrations/agent/agentMigrations.ts'
import { openDatabase } from '../../src/main/storage/openDatabase.ts'
import { type PrivateKeychain, privateKeychain } from '../support/privateKeychain.ts'
import { temporaryFolder } from '../support/temporaryFolder.ts'

const key = 'sk-proj-0123456789-abcdefghijkl-WXYZ'
let keychain: PrivateKeychain

beforeAll(async () => {
  keychain = await privateKeychain()
  process.env.DBUS_SESSION_BUS_ADDRESS = keychain.address
})
afterAll(() => keychain?.close())

const stored = (scopeName: string) => keychainSecretStore({ scopeName, platform: 'linux' })

function opened(folder: string) {
  const database = openDatabase(join(folder, 'agent.sqlite'))
  onTestFinished(() => void database.close())
  migrate(database, agentMigrations)
  const places = walletPlaces({
    folder: join(folder, 'providers'),
    setting: 'auto',
    keychain: stored,
    vaultFile: (file) => vaultFileSecretStore({ file }),
  })
  return keptKeys({
    sealed: sealedKeys({ places, sealFile: join(folder, 'providers', 'seal.key') }),
    repository: providerKeyRepository(database),
    onRead: () => {},
    now: Date.now,
  })
}

test('a real keychain keeps a key, sealed, over a new start and a lock', async () => {
  const folder = temporaryFolder('keys')
  const first = opened(folder)
  expect(await first.storage()).toMatchObject({ kind: 'keychain', name: 'Secret Service (GNOME Keyring, KWallet)' })
  await first.put('a', key)
  expect(first.about('a')).toMatchObject({ place: 'keychain', ends_with: 'WXYZ' })
  expect(readdirSync(join(folder, 'providers')).sort()).toEqual(['keychain.json', 'seal.key'])
  const pointer = JSON.parse(readFileSync(join(folder, 'providers', 'keychain.json'), 'utf8'))
  const inKeychain = await stored(pointer.keychain_scope).read('a')
  expect(inKeychain?.length).toBeGreaterThan(key.length)
  expect(inKeychain).not.toContain(key)

  const again = opened(folder)
  await keychain.lock('refused')
  await again.readAgain()
  expect(again.held('a')).toBeUndefined()
  expect(again.about('a')?.fault).toBe('Your system keychain is locked.')
  await keychain.unlock()
  await again.readAgain()
  expect(again.held('a')).toBe(key)
  expect(again.about('a')?.fault).toBeNull()

  await again.remove('a')
  expect(await stored(pointer.keychain_scope).read('a')).toBeUndefined()
  expect(readdirSync(join(folder, 'providers'))).toEqual([])
})
