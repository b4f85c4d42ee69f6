import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createEncryptedKeyStore } from '#agent/providers/encryptedKeyStore.ts'
import { createProviderKeyRepository } from '#agent/providers/providerKeyRepository.ts'
import { createProviderKeyStore } from '#agent/providers/providerKeyStore.ts'
import { createKeychainSecretStore } from '#platform/secrets/keychainSecretStore.ts'
import { createSecretStoreLocator } from '#platform/secrets/secretStoreLocator.ts'
import { verifySecretStore } from '#platform/secrets/verifySecretStore.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createPrivateKeychain, type PrivateKeychain } from '../support/processes/privateKeychain.ts'
import { secretStoreContract } from './secretStore.ts'

/** A process can use only one keychain, so all tests that need a real one are in this file. */
let keychain: PrivateKeychain

beforeAll(async () => {
  keychain = await createPrivateKeychain()
  process.env.DBUS_SESSION_BUS_ADDRESS = keychain.address
})
afterAll(() => keychain?.close())

const createStore = (scopeName: string, deadlineMs?: number) =>
  createKeychainSecretStore({ scopeName, platform: 'linux', ...(deadlineMs !== undefined && { deadlineMs }) })

secretStoreContract('keychain', async () => ({
  store: createStore('contract'),
  again: () => createStore('contract'),
  close: async () => {},
}))

const key = 'sk-proj-0123456789-abcdefghijkl-WXYZ'

function keysIn(folder: string) {
  const database = openDatabase(join(folder, 'agent.sqlite'))
  onTestFinished(() => void database.close())
  migrate(database, agentMigrations)
  const locator = createSecretStoreLocator({
    folder: join(folder, 'providers'),
    setting: 'auto',
    keychain: createStore,
  })
  return createProviderKeyStore({
    sealed: createEncryptedKeyStore({ locator, sealFile: join(folder, 'providers', 'seal.key') }),
    repository: createProviderKeyRepository(database),
    onRead: () => {},
    now: Date.now,
  })
}

test('stores a sealed provider key across a restart and a keychain lock', async () => {
  const folder = temporaryFolder('keys')
  const first = keysIn(folder)
  expect(await first.storage()).toMatchObject({ kind: 'keychain', name: 'Secret Service (GNOME Keyring, KWallet)' })
  await first.store('a', key)
  expect(first.about('a')).toMatchObject({ place: 'keychain', ends_with: 'WXYZ' })
  expect(readdirSync(join(folder, 'providers')).sort()).toEqual(['keychain.json', 'seal.key'])
  const pointer = JSON.parse(readFileSync(join(folder, 'providers', 'keychain.json'), 'utf8'))
  const inKeychain = await createStore(pointer.keychain_scope).read('a')
  expect(inKeychain?.length).toBeGreaterThan(key.length)
  expect(inKeychain).not.toContain(key)

  const again = keysIn(folder)
  await keychain.lock('refused')
  await again.readAgain()
  expect(again.findKey('a')).toBeUndefined()
  expect(again.about('a')?.fault).toBe('Your system keychain is locked.')
  await keychain.unlock()
  await again.readAgain()
  expect(again.findKey('a')).toBe(key)
  expect(again.about('a')?.fault).toBeNull()

  await again.remove('a')
  expect(await createStore(pointer.keychain_scope).read('a')).toBeUndefined()
  expect(readdirSync(join(folder, 'providers'))).toEqual([])
})

test('separates the wallets of two data folders', async () => {
  await createStore('here').write('one', 'mine')
  expect(await createStore('there').read('one')).toBeUndefined()
  await createStore('there').remove('one')
  expect(await createStore('here').read('one')).toBe('mine')
})

test('reports a locked keychain and returns stored secrets after unlocking', async () => {
  const store = createStore('locked')
  await store.write('one', 'kept')
  await keychain.lock('refused')
  const locked = { code: 'wallet/keychain-locked', message: 'Your system keychain is locked.' }
  expect(await store.fault()).toBeUndefined()
  expect(await store.read('never')).toBeUndefined()
  await expect(store.read('one')).rejects.toMatchObject(locked)
  await expect(store.write('one', 'other')).rejects.toMatchObject(locked)
  await expect(store.remove('one')).rejects.toMatchObject(locked)
  await keychain.unlock()
  expect(await store.read('one')).toBe('kept')
})

test('verification distinguishes a keychain that stores secrets from one that only responds', async () => {
  expect(await verifySecretStore(createStore('trial'))).toBeUndefined()
  await keychain.lock('refused')
  expect(await createStore('trial').fault()).toBeUndefined()
  expect(await verifySecretStore(createStore('trial'))).toMatchObject({ code: 'wallet/keychain-locked' })
  await keychain.unlock()
})

test('times out when the user ignores the unlock dialog', async () => {
  await createStore('waiting').write('one', 'kept')
  await keychain.lock('unanswered')
  const late = { code: 'wallet/keychain-locked', message: expect.stringContaining('did not respond in time') }
  await expect(createStore('waiting', 1_000).read('one')).rejects.toMatchObject(late)
  await keychain.unlock()
  expect(await createStore('waiting').read('one')).toBe('kept')
})

test('applies a new write after an earlier one that timed out', async () => {
  await createStore('held').write('one', 'first') // absorbs the slow first access
  const store = createStore('held', 500)
  const names = Array.from({ length: 8 }, (_, index) => `late-${index}`) // twice the number of threads
  const late = await until('a write that is held up', async () => {
    const writing = names.map((it) => store.write(it, 'late'))
    await new Promise((resolve) => setImmediate(resolve))
    keychain.hold()
    const ends = await Promise.allSettled(writing)
    keychain.letGo()
    return names.find((_, index) => {
      const end = ends[index]
      return end?.status === 'rejected' && String(end.reason).includes('may still make this change')
    })
  })
  await eventually(() => store.write(late, 'last'))
  expect(await createStore('held').read(late)).toBe('last')
  await eventually(async () => expect(await store.read(late)).toBe('last'))
})

test('distinguishes an unresponsive keychain from a missing one', async () => {
  await createStore('slow').write('one', 'kept')
  keychain.hold()
  const busy = { code: 'wallet/keychain-locked', message: expect.stringContaining('did not respond in time') }
  await expect(createStore('slow', 500).read('one')).rejects.toMatchObject(busy)
  keychain.letGo()
  expect(await createStore('slow').read('one')).toBe('kept')
})

test('stops sending requests while two dialogs wait and resumes after they close', async () => {
  await createStore('refusing').write('one', 'kept')
  await keychain.lock('unanswered')
  const store = createStore('refusing', 500)
  const code = 'wallet/keychain-locked'
  for (const message of ['did not respond in time', 'did not respond in time', 'is still waiting']) {
    await expect(store.read('one')).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
  }
  await keychain.close() // must be last, because closing the bus closes the dialogs
  const keychainError = { code: 'wallet/keychain-unavailable' }
  await eventually(() => expect(store.read('one')).rejects.toMatchObject(keychainError))
})
