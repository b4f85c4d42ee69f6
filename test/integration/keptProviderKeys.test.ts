import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { keptKeys } from '#agent/providers/keptKeys.ts'
import { providerKeyRepository } from '#agent/providers/providerKeyRepository.ts'
import { sealedKeys } from '#agent/providers/sealedKeys.ts'
import { walletPlaces } from '#agent/wallet/walletPlaces.ts'
import type { SecretStore } from '#platform/secretStore.ts'
import { vaultFileSecretStore } from '#platform/vaultFileSecretStore.ts'
import { AppError } from '#shared/appError.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { openDatabase } from '#storage/openDatabase.ts'
import { runningAgent } from '../support/runningAgent.ts'
import { temporaryFolder } from '../support/temporaryFolder.ts'

const key = 'sk-proj-0123456789-abcdefghijkl-WXYZ'

/** A keychain of this test, which may be locked. */
function memoryKeychain() {
  const held = new Map<string, string>()
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
      return held.get(`${scopeName}/${name}`)
    },
    async write(name, value) {
      check()
      held.set(`${scopeName}/${name}`, value)
    },
    async remove(name) {
      check()
      held.delete(`${scopeName}/${name}`)
    },
  })
  return { held, state, store }
}

function opened({
  folder = temporaryFolder('keys'),
  setting = 'auto' as 'auto' | 'vault_file',
  keychain = memoryKeychain(),
} = {}) {
  const database = openDatabase(join(folder, 'agent.sqlite'))
  onTestFinished(() => void database.close())
  migrate(database, agentMigrations)
  const read: string[] = []
  const places = walletPlaces({
    folder: join(folder, 'providers'),
    setting,
    keychain: keychain.store,
    vaultFile: (file) => vaultFileSecretStore({ file }),
  })
  const kept = keptKeys({
    sealed: sealedKeys({ places, sealFile: join(folder, 'providers', 'seal.key') }),
    repository: providerKeyRepository(database),
    onRead: (slot) => read.push(slot),
    now: () => Date.UTC(2026, 0, 1),
  })
  return { kept, folder, keychain, read, again: () => opened({ folder, setting, keychain }) }
}

const filesOf = (folder: string) => readdirSync(join(folder, 'providers')).sort()
const allText = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((it) => join(folder, it))
    .filter((it) => statSync(it).isFile())
    .map((it) => readFileSync(it, 'latin1'))
    .join('\n')

test('keeps a key in the keychain, sealed, and gives it back after a new start', async () => {
  const { kept, folder, keychain, again } = opened()
  await kept.put('a', ` ${key}\n`)
  expect(kept.held('a')).toBe(key)
  expect(kept.about('a')).toEqual({
    place: 'keychain',
    ends_with: 'WXYZ',
    set_at: '2026-01-01T00:00:00.000Z',
    fault: null,
  })
  expect([...keychain.held.values()].join()).not.toContain(key)
  expect(allText(folder)).not.toContain(key)
  expect((await kept.storage()).kind).toBe('keychain')

  const later = again()
  expect(later.kept.held('a')).toBeUndefined()
  await later.kept.readAgain()
  expect(later.kept.held('a')).toBe(key)
  expect(later.read).toEqual(['a'])
})

test('without a keychain it is in a sealed file of this user alone, and that is said', async () => {
  const keychain = memoryKeychain()
  keychain.state.absent = true
  const { kept, folder, again } = opened({ keychain })
  expect(await kept.storage()).toMatchObject({ kind: 'file', detail: expect.stringContaining('can read your keys') })
  await kept.put('b', key)
  expect(kept.about('b')).toMatchObject({ place: 'file' })
  expect(filesOf(folder)).toEqual(['seal.key', 'vault.json'])
  for (const name of filesOf(folder)) expect(statSync(join(folder, 'providers', name)).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, 'providers')).mode & 0o777).toBe(0o700)
  expect(allText(folder)).not.toContain(key)
  const later = again()
  await later.kept.readAgain()
  expect(later.kept.held('b')).toBe(key)
})

test('leaves nothing of the last key that is removed', async () => {
  const { kept, folder } = opened({ setting: 'vault_file' })
  await kept.put('a', key)
  await kept.put('b', key)
  expect(await kept.remove('a')).toBe(true)
  expect(kept.held('a')).toBeUndefined()
  expect(kept.about('a')).toBeNull()
  expect(kept.held('b')).toBe(key)
  expect(await kept.remove('b')).toBe(true)
  expect(await kept.remove('b')).toBe(false)
  expect(filesOf(folder)).toEqual([])
})

test('a locked keychain is said, and read once it is open', async () => {
  const first = opened()
  await first.kept.put('c', key)
  const { kept, keychain, read } = first.again()
  keychain.state.locked = true
  await kept.readAgain()
  expect(kept.about('c')).toMatchObject({ fault: 'Your system keychain is locked.', ends_with: 'WXYZ' })
  await expect(kept.put('c', key)).rejects.toMatchObject({ code: 'wallet/keychain-locked' })
  await expect(kept.remove('c')).rejects.toMatchObject({ code: 'wallet/keychain-locked' })
  expect(kept.about('c')).not.toBeNull()
  keychain.state.locked = false
  await kept.readAgain()
  expect(kept.about('c')).toMatchObject({ fault: null })
  expect(kept.held('c')).toBe(key)
  expect(read).toEqual(['c', 'c'])
})

test('a sealed key that was moved to another slot or changed does not open', async () => {
  const { kept, folder, again } = opened({ setting: 'vault_file' })
  await kept.put('a', key)
  await kept.put('b', 'sk-other-0123456789-key-of-b')
  const file = join(folder, 'providers', 'vault.json')
  const vault = JSON.parse(readFileSync(file, 'utf8')) as { entries: Record<string, string> }
  writeFileSync(file, JSON.stringify({ ...vault, entries: { a: vault.entries.b, b: vault.entries.a } }))
  const later = again()
  await later.kept.readAgain()
  for (const slot of ['a', 'b']) {
    expect(later.kept.held(slot)).toBeUndefined()
    expect(later.kept.about(slot)?.fault).toContain('cannot be opened')
  }
  rmSync(join(folder, 'providers', 'seal.key'))
  const last = again()
  await last.kept.readAgain()
  expect(last.kept.about('a')?.fault).toContain('cannot be opened')
  await last.kept.put('a', key)
  expect(last.kept.held('a')).toBe(key)
})

test.each([
  ['', 'Enter a key.'],
  ['two words', 'A key has no spaces'],
  ['sk-\r\nx-evil: 1', 'A key has no spaces'],
  ['schlüssel-schlüssel', 'A key has no spaces'],
  ['short', 'A key has 8 to 512 characters.'],
  ['x'.repeat(513), 'A key has 8 to 512 characters.'],
])('refuses what is no key, without repeating it (%#)', async (given, sentence) => {
  const { kept } = opened()
  const refusal = await kept.put('a', given).catch((failure: unknown) => failure)
  expect(refusal).toMatchObject({ code: 'provider-key/invalid', message: expect.stringContaining(sentence) })
  expect(kept.about('a')).toBeNull()
})

test('shows nothing of a short key', async () => {
  const { kept } = opened()
  await kept.put('a', 'sk-short-12')
  expect(kept.about('a')?.ends_with).toBeNull()
})

test('with a service elsewhere its operator has the keys, and no sheet takes one', async () => {
  const hosted = { url: 'http://127.0.0.1:9', authority: undefined }
  const agent = await runningAgent({ dataFolder: temporaryFolder('agent'), hosted })
  onTestFinished(() => agent.close())
  expect((await agent.send('/local/providers')).json).toMatchObject({ managed_by: 'operator', providers: [] })
  expect((await agent.send('/local/model-servers')).json).toEqual({ managed_by: 'operator', servers: [] })
  const sheet = await agent.send('/local/wallet/sheets', {
    body: { purpose: 'provider_key', family: 'a', theme: 'dark' },
  })
  expect(sheet).toMatchObject({ status: 409, json: { code: 'provider-key/elsewhere' } })
})
