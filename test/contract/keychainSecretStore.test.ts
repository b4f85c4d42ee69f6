import { afterAll, beforeAll, expect, test } from 'vitest'
import { keychainSecretStore } from '../../src/main/platform/keychainSecretStore.ts'
import { eventually } from '../support/eventually.ts'
import { type PrivateKeychain, privateKeychain } from '../support/privateKeychain.ts'
import { secretStoreContract } from './secretStore.ts'

let keychain: PrivateKeychain

beforeAll(async () => {
  keychain = await privateKeychain()
  process.env.DBUS_SESSION_BUS_ADDRESS = keychain.address
})
afterAll(() => keychain?.close())

const storeOf = (scopeName: string, deadlineMs?: number) =>
  keychainSecretStore({ scopeName, platform: 'linux', ...(deadlineMs !== undefined && { deadlineMs }) })

secretStoreContract('keychain', async () => ({
  store: storeOf('contract'),
  again: () => storeOf('contract'),
  close: async () => {},
}))

test('parts the wallets of two data folders', async () => {
  await storeOf('here').write('one', 'mine')
  expect(await storeOf('there').read('one')).toBeUndefined()
  await storeOf('there').remove('one')
  expect(await storeOf('here').read('one')).toBe('mine')
})

test('says that it is locked, and gives what it keeps again after it was unlocked', async () => {
  const store = storeOf('locked')
  await store.write('one', 'kept')
  await keychain.lock('refused')
  const locked = { code: 'wallet/keychain-locked', message: 'The keychain of your system is locked.' }
  expect(await store.fault()).toBeUndefined()
  expect(await store.read('never')).toBeUndefined()
  await expect(store.read('one')).rejects.toMatchObject(locked)
  await expect(store.write('one', 'other')).rejects.toMatchObject(locked)
  await expect(store.remove('one')).rejects.toMatchObject(locked)
  await keychain.unlock()
  expect(await store.read('one')).toBe('kept')
})

test('does not wait for ever for a dialog that nobody answers', async () => {
  await storeOf('waiting').write('one', 'kept')
  await keychain.lock('unanswered')
  const late = { code: 'wallet/keychain-locked', message: expect.stringContaining('did not answer in time') }
  await expect(storeOf('waiting', 1_000).read('one')).rejects.toMatchObject(late)
  await keychain.unlock()
  expect(await storeOf('waiting').read('one')).toBe('kept')
})

test('asks no more when two dialogs wait, and again when they are gone', async () => {
  await storeOf('refusing').write('one', 'kept')
  await keychain.lock('unanswered')
  const store = storeOf('refusing', 500)
  const code = 'wallet/keychain-locked'
  for (const message of ['did not answer in time', 'did not answer in time', 'still waits']) {
    await expect(store.read('one')).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
  }
  await keychain.close() // the last test: with the bus go the dialogs
  const gone = { code: 'wallet/keychain-unavailable' }
  await eventually(() => expect(store.read('one')).rejects.toMatchObject(gone))
})
