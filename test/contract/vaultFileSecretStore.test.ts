import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createVaultFileSecretStore } from '#platform/secrets/vaultFileSecretStore.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { secretStoreContract } from './secretStore.ts'

secretStoreContract('vault file', async () => {
  const file = join(temporaryFolder('vault'), 'wallet', 'vault.json')
  return {
    store: createVaultFileSecretStore({ file }),
    again: () => createVaultFileSecretStore({ file }),
    close: async () => {},
  }
})

const createVault = async () => {
  const file = join(temporaryFolder('vault'), 'wallet', 'vault.json')
  const store = createVaultFileSecretStore({ file })
  await store.write('one', 'first')
  return { file, store, folder: join(file, '..') }
}

test('is a single file that only this user can access', async () => {
  const { file, folder } = await createVault()
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(readdirSync(folder)).toEqual(['vault.json'])
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ version: 1, entries: { one: 'first' } })
})

test('is deleted with its last entry', async () => {
  const { file, store } = await createVault()
  await store.remove('one')
  expect(existsSync(file)).toBe(false)
  expect(await store.read('one')).toBeUndefined()
})

test('ignores leftovers of a crash and a planted link', async () => {
  const { file, folder, store } = await createVault()
  writeFileSync(`${file}.new`, '{"version":1,"entries":{"one":"ha')
  expect(await store.read('one')).toBe('first')
  await store.write('two', 'second')
  expect(readdirSync(folder)).toEqual(['vault.json'])

  const elsewhere = join(folder, '..', 'elsewhere')
  writeFileSync(elsewhere, 'untouched')
  symlinkSync(elsewhere, `${file}.new`)
  await store.write('three', 'third')
  expect(readFileSync(elsewhere, 'utf8')).toBe('untouched')
  expect(await store.read('three')).toBe('third')
})

test.each([
  ['cut short', (text: string) => text.slice(0, -20)],
  ['empty', () => ''],
  ['of another version', (text: string) => text.replace('"version": 1', '"version": 2')],
  ['with something else in it', (text: string) => text.replace('"version"', '"more": 1, "version"')],
  ['with an entry that is no text', (text: string) => text.replace('"first"', '7')],
])('is never overwritten when it is %s', async (_, change) => {
  const { file, store } = await createVault()
  const broken = change(readFileSync(file, 'utf8'))
  writeFileSync(file, broken)
  const refused = { code: 'wallet/damaged', message: expect.stringContaining(file) }
  await expect(store.read('one')).rejects.toMatchObject(refused)
  await expect(store.write('two', 'second')).rejects.toMatchObject(refused)
  await expect(store.remove('one')).rejects.toMatchObject(refused)
  expect(readFileSync(file, 'utf8')).toBe(broken)
})
