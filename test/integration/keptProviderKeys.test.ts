import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createEncryptedKeyStore } from '#agent/providers/encryptedKeyStore.ts'
import { createProviderKeyRepository } from '#agent/providers/providerKeyRepository.ts'
import { createProviderKeyStore } from '#agent/providers/providerKeyStore.ts'
import type { SecretStore } from '#platform/secrets/secretStore.ts'
import { createSecretStoreLocator } from '#platform/secrets/secretStoreLocator.ts'
import { AppError } from '#shared/appError.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createRunningAgent } from '../support/processes/runningAgent.ts'

const key = 'sk-proj-0123456789-abcdefghijkl-WXYZ'

/** Creates an in-memory keychain for this test, which can be locked. */
function memoryKeychain() {
  const entries = new Map<string, string>()
  const state = { locked: false, absent: false }
  const check = () => {
    if (state.absent) throw new AppError('wallet/keychain-unavailable', 'No Secret Service answers.')
    if (state.locked) throw new AppError('wallet/keychain-locked', 'Your system keychain is locked.')
  }
  const store = (scopeName: string): SecretStore => ({
    kind: 'secret_service',
    detail: 'A keychain.',
    fault: async () => (state.absent ? 'No Secret Service answers.' : undefined),
    async read(name) {
      check()
      return entries.get(`${scopeName}/${name}`)
    },
    async write(name, value) {
      check()
      entries.set(`${scopeName}/${name}`, value)
    },
    async remove(name) {
      check()
      entries.delete(`${scopeName}/${name}`)
    },
  })
  return { held: entries, state, store }
}

function openStore({
  folder = temporaryFolder('keys'),
  setting = 'auto' as 'auto' | 'vault_file',
  keychain = memoryKeychain(),
} = {}) {
  const database = openDatabase(join(folder, 'agent.sqlite'))
  onTestFinished(() => void database.close())
  migrate(database, agentMigrations)
  const read: string[] = []
  const locator = createSecretStoreLocator({
    folder: join(folder, 'providers'),
    setting,
    keychain: keychain.store,
  })
  const keys = createProviderKeyStore({
    sealed: createEncryptedKeyStore({ locator, sealFile: join(folder, 'providers', 'seal.key') }),
    repository: createProviderKeyRepository(database),
    onRead: (slot) => read.push(slot),
    now: () => Date.UTC(2026, 0, 1),
  })
  return { kept: keys, folder, keychain, read, again: () => openStore({ folder, setting, keychain }) }
}

const listFiles = (folder: string) => readdirSync(join(folder, 'providers')).sort()
const allText = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((it) => join(folder, it))
    .filter((value) => statSync(value).isFile())
    .map((it) => readFileSync(it, 'latin1'))
    .join('\n')

test('stores a sealed key in the keychain and returns it after a restart', async () => {
  const { kept: keys, folder, keychain, again } = openStore()
  await keys.store('a', ` ${key}\n`)
  expect(keys.findKey('a')).toBe(key)
  expect(keys.about('a')).toEqual({
    place: 'keychain',
    ends_with: 'WXYZ',
    set_at: '2026-01-01T00:00:00.000Z',
    fault: null,
  })
  expect([...keychain.held.values()].join()).not.toContain(key)
  expect(allText(folder)).not.toContain(key)
  expect((await keys.storage()).kind).toBe('keychain')

  const later = again()
  expect(later.kept.findKey('a')).toBeUndefined()
  await later.kept.readAgain()
  expect(later.kept.findKey('a')).toBe(key)
  expect(later.read).toEqual(['a'])
})

test('stores the key without a keychain in a sealed user-only file and reports it', async () => {
  const keychain = memoryKeychain()
  keychain.state.absent = true
  const { kept: keys, folder, again } = openStore({ keychain })
  expect(await keys.storage()).toMatchObject({ kind: 'file', detail: expect.stringContaining('can read your keys') })
  await keys.store('b', key)
  expect(keys.about('b')).toMatchObject({ place: 'file' })
  expect(listFiles(folder)).toEqual(['seal.key', 'vault.json'])
  for (const name of listFiles(folder)) expect(statSync(join(folder, 'providers', name)).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, 'providers')).mode & 0o777).toBe(0o700)
  expect(allText(folder)).not.toContain(key)
  const later = again()
  await later.kept.readAgain()
  expect(later.kept.findKey('b')).toBe(key)
})

test('leaves no data after the last key is removed', async () => {
  const { kept: keys, folder } = openStore({ setting: 'vault_file' })
  await keys.store('a', key)
  await keys.store('b', key)
  expect(await keys.remove('a')).toBe(true)
  expect(keys.findKey('a')).toBeUndefined()
  expect(keys.about('a')).toBeNull()
  expect(keys.findKey('b')).toBe(key)
  expect(await keys.remove('b')).toBe(true)
  expect(await keys.remove('b')).toBe(false)
  expect(listFiles(folder)).toEqual([])
})

test('reports a locked keychain and reads the key after it is unlocked', async () => {
  const first = openStore()
  await first.kept.store('c', key)
  const { kept: keys, keychain, read } = first.again()
  keychain.state.locked = true
  await keys.readAgain()
  expect(keys.about('c')).toMatchObject({ fault: 'Your system keychain is locked.', ends_with: 'WXYZ' })
  await expect(keys.store('c', key)).rejects.toMatchObject({ code: 'wallet/keychain-locked' })
  await expect(keys.remove('c')).rejects.toMatchObject({ code: 'wallet/keychain-locked' })
  expect(keys.about('c')).not.toBeNull()
  keychain.state.locked = false
  await keys.readAgain()
  expect(keys.about('c')).toMatchObject({ fault: null })
  expect(keys.findKey('c')).toBe(key)
  expect(read).toEqual(['c', 'c'])
})

test('does not open a sealed key that was moved to another slot or changed', async () => {
  const { kept: keys, folder, again } = openStore({ setting: 'vault_file' })
  await keys.store('a', key)
  await keys.store('b', 'sk-other-0123456789-key-of-b')
  const file = join(folder, 'providers', 'vault.json')
  const vault = JSON.parse(readFileSync(file, 'utf8')) as { entries: Record<string, string> }
  writeFileSync(file, JSON.stringify({ ...vault, entries: { a: vault.entries.b, b: vault.entries.a } }))
  const later = again()
  await later.kept.readAgain()
  for (const slot of ['a', 'b']) {
    expect(later.kept.findKey(slot)).toBeUndefined()
    expect(later.kept.about(slot)?.fault).toContain('cannot be decrypted')
  }
  rmSync(join(folder, 'providers', 'seal.key'))
  const last = again()
  await last.kept.readAgain()
  expect(last.kept.about('a')?.fault).toContain('cannot be decrypted')
  await last.kept.store('a', key)
  expect(last.kept.findKey('a')).toBe(key)
})

test.each([
  ['', 'Enter a key.'],
  ['two words', 'A key has no spaces'],
  ['sk-\r\nx-evil: 1', 'A key has no spaces'],
  ['schlüssel-schlüssel', 'A key has no spaces'],
  ['short', 'A key has 8 to 512 characters.'],
  ['x'.repeat(513), 'A key has 8 to 512 characters.'],
])('rejects an invalid key without repeating it (%#)', async (input, sentence) => {
  const { kept: keys } = openStore()
  const refusal = await keys.store('a', input).catch((error: unknown) => error)
  expect(refusal).toMatchObject({ code: 'provider-key/invalid', message: expect.stringContaining(sentence) })
  expect(keys.about('a')).toBeNull()
})

test('shows no characters of a short key', async () => {
  const { kept: keys } = openStore()
  await keys.store('a', 'sk-short-12')
  expect(keys.about('a')?.ends_with).toBeNull()
})

test('leaves provider keys to the operator of a remote service and refuses secure prompts', async () => {
  const hosted = { url: 'http://127.0.0.1:9', authority: undefined }
  const agent = await createRunningAgent({ dataFolder: temporaryFolder('agent'), hosted })
  onTestFinished(() => agent.close())
  expect((await agent.send('/local/providers')).json).toMatchObject({ managed_by: 'operator', providers: [] })
  expect((await agent.send('/local/model-servers')).json).toEqual({ managed_by: 'operator', servers: [] })
  const prompt = await agent.send('/local/secure-prompts', {
    body: { purpose: 'provider_key', family: 'a', theme: 'dark' },
  })
  expect(prompt).toMatchObject({ status: 409, json: { code: 'provider-key/remote-service' } })
})
