import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createKeychainSecretStore } from '#platform/secrets/keychainSecretStore.ts'
import { AppError } from '#shared/appError.ts'
import { openTestWallet, type TestWallet } from '../support/fixtures/openTestWallet.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createPrivateKeychain, type PrivateKeychain } from '../support/processes/privateKeychain.ts'

const passphrase = 'correct horse battery'
const privateKey = '1'.repeat(64)

let keychain: PrivateKeychain
let opened: TestWallet | undefined

beforeAll(async () => {
  keychain = await createPrivateKeychain()
  process.env.DBUS_SESSION_BUS_ADDRESS = keychain.address
})
afterEach(() => opened?.close())
afterAll(() => keychain?.close())

function open(folder: string, setting: 'auto' | 'vault_file' = 'auto'): TestWallet {
  opened?.close()
  opened = openTestWallet({ folder, setting })
  return opened
}

async function createWallet(): Promise<TestWallet> {
  const opened = open(temporaryFolder('wallet'))
  await opened.wallet.addPrivateKey({ privateKey, chainType: 'evm', label: 'Key', passphrase })
  return opened
}
const listFiles = ({ folder }: TestWallet): string[] => readdirSync(join(folder, 'wallet'))
const readKey = ({ wallet }: TestWallet): Promise<string> =>
  wallet.withKey(wallet.account('evm').id, (key) => Buffer.from(key).toString('hex'))

test('stores a new wallet sealed in an available keychain and finds it there again', async () => {
  const first = open(temporaryFolder('wallet'))
  const secretService = { kind: 'secret_service', name: 'Secret Service (GNOME Keyring, KWallet)' }
  expect(await first.wallet.status()).toMatchObject({ state: 'absent', backend: secretService })
  const { id } = await first.wallet.addPrivateKey({ privateKey, chainType: 'evm', passphrase })
  expect(listFiles(first)).toEqual(['keychain.json'])
  const { keychain_scope: scopeName } = JSON.parse(readFileSync(join(first.folder, 'wallet/keychain.json'), 'utf8'))
  const store = createKeychainSecretStore({ scopeName, platform: 'linux' })
  const stored = `${await store.read('header')}${await store.read(id)}`
  expect(stored).toContain('"kdf"')
  for (const secret of [privateKey, Buffer.from(privateKey, 'hex').toString('base64'), passphrase]) {
    expect(stored).not.toContain(secret)
  }

  const again = open(first.folder, 'vault_file')
  expect(await again.wallet.status()).toMatchObject({ state: 'locked', backend: secretService })
  await again.wallet.unlock(passphrase)
  expect(await readKey(again)).toBe(privateKey)

  await again.wallet.remove(id, { typedLabel: 'Key 1', passphrase })
  expect(await again.wallet.status()).toMatchObject({ state: 'absent' })
  expect(listFiles(again)).toEqual([])
  expect([await store.read('header'), await store.read(id)]).toEqual([undefined, undefined])
})

test('reports a locked keychain as a separate state while an open wallet still signs', async () => {
  const created = await createWallet()
  await keychain.lock('refused')
  expect(await readKey(created)).toBe(privateKey)
  created.wallet.lock()
  await expect(created.wallet.unlock(passphrase)).rejects.toMatchObject({ code: 'wallet/keychain-locked' })
  expect(await created.wallet.status()).toMatchObject({
    state: 'keychain_locked',
    detail: 'Your system keychain is locked.',
    keyrings: [{ label: 'Key' }],
  })
  const fresh = open(temporaryFolder('wallet'))
  const adding = fresh.wallet.addPrivateKey({ privateKey, chainType: 'evm', passphrase })
  await expect(adding).rejects.toMatchObject({ code: 'wallet/keychain-locked' })

  await keychain.unlock()
  const again = open(created.folder)
  await again.wallet.unlock(passphrase)
  expect(await again.wallet.status()).toMatchObject({ state: 'unlocked' })
})

/** Opens a wallet whose next header write times out. The keychain stores that header later. */
function givingUp(folder: string) {
  opened?.close()
  let late: { scopeName: string; value: string } | undefined
  opened = openTestWallet({
    folder,
    setting: 'auto',
    beforeWrite({ name, ...written }) {
      if (name !== 'header' || late) return
      late = written
      throw new AppError('wallet/keychain-locked', 'The keychain did not answer in time.')
    },
  })
  const arrives = async (): Promise<void> => {
    if (!late) throw new Error('No header was written.')
    await createKeychainSecretStore({ scopeName: late.scopeName, platform: 'linux' }).write('header', late.value)
  }
  return { ...opened, arrives }
}
const timeoutError = { code: 'wallet/keychain-locked' }

test.each(['before', 'after'])(
  'a first header stored late by the keychain, %s the next, leaves the wallet intact',
  async (when) => {
    const opened = givingUp(temporaryFolder('wallet'))
    const add = (passphrase: string) => opened.wallet.addPrivateKey({ privateKey, chainType: 'evm', passphrase })
    await expect(add('wrong horse battery')).rejects.toMatchObject(timeoutError)
    if (when === 'before') await opened.arrives()
    await add(passphrase)
    if (when === 'after') await opened.arrives()
    const again = open(opened.folder)
    await again.wallet.unlock(passphrase)
    expect(await again.wallet.status()).toMatchObject({
      state: 'unlocked',
      detail: null,
      keyrings: [{ label: 'Key 1' }],
    })
    expect(await readKey(again)).toBe(privateKey)
  },
)

test('a new passphrase that the keychain stores late opens the existing wallet', async () => {
  const opened = givingUp((await createWallet()).folder)
  const to = 'another horse battery'
  await expect(opened.wallet.changePassphrase({ from: passphrase, to })).rejects.toMatchObject(timeoutError)
  await opened.wallet.unlock(passphrase)
  await opened.arrives()
  await expect(opened.wallet.checkPassphrase(passphrase)).rejects.toMatchObject({ code: 'wallet/passphrase' })
  await opened.wallet.unlock(to)
  expect(await readKey(opened)).toBe(privateKey)
})

test('a wallet whose header is missing from the keychain restarts under a new scope', async () => {
  const { folder } = await createWallet()
  const readScope = () => JSON.parse(readFileSync(join(folder, 'wallet/keychain.json'), 'utf8')).keychain_scope
  const lostScope = readScope()
  await createKeychainSecretStore({ scopeName: lostScope, platform: 'linux' }).remove('header')
  const opened = open(folder)
  const to = 'another horse battery'
  await opened.wallet.addPrivateKey({ privateKey, chainType: 'evm', passphrase: to })
  expect(readScope()).not.toBe(lostScope)
  opened.wallet.lock()
  await opened.wallet.unlock(to)
  expect(await opened.wallet.status()).toMatchObject({ state: 'unlocked', detail: null, keyrings: [{ label: 'Key' }] })
})

test('reports an unavailable keychain without replacing it and uses files only for new wallets', async () => {
  const created = await createWallet()
  created.wallet.lock()
  await keychain.close()
  expect(await created.wallet.status()).toMatchObject({
    state: 'keychain_unavailable',
    detail: 'No Secret Service is available: this session has no D-Bus.',
    backend: { kind: 'secret_service' },
    keyrings: [{ label: 'Key' }],
  })
  const adding = created.wallet.addPrivateKey({ privateKey: '2'.repeat(64), chainType: 'evm', passphrase })
  await expect(adding).rejects.toMatchObject({ code: 'wallet/keychain-unavailable' })
  await expect(created.wallet.unlock(passphrase)).rejects.toMatchObject({ code: 'wallet/keychain-unavailable' })
  expect(listFiles(created)).toEqual(['keychain.json'])

  const fresh = open(temporaryFolder('wallet'))
  expect(await fresh.wallet.status()).toMatchObject({
    state: 'absent',
    backend: { kind: 'vault_file', detail: expect.stringContaining('this session has no D-Bus') },
  })
  await fresh.wallet.addPrivateKey({ privateKey, chainType: 'evm', passphrase })
  expect(listFiles(fresh)).toEqual(['vault.json'])
  expect(await fresh.wallet.status()).toMatchObject({ state: 'unlocked', backend: { kind: 'vault_file' } })
})
