import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestWallet, type TestWallet } from '../support/fixtures/openTestWallet.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

const passphrase = 'correct horse battery'
const firstKey = '1'.repeat(64)
const secondAddress = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94'

let snapshot: string
let opened: TestWallet | undefined

beforeAll(async () => {
  snapshot = temporaryFolder('wallet')
  const { wallet, close } = openTestWallet({ folder: snapshot })
  await wallet.addPrivateKey({ privateKey: firstKey, chainType: 'evm', label: 'First', passphrase })
  close()
})
afterAll(() => opened?.close())

/** Opens the wallet that a kill at this crash point leaves behind. */
function afterCrash(start: 'empty' | 'made', action: 'create' | 'remove' | 'change', crashPoint: string): TestWallet {
  opened?.close()
  const folder = temporaryFolder('crashed')
  if (start === 'made') cpSync(snapshot, folder, { recursive: true })
  const script = join(import.meta.dirname, '../support/processes/crashingWallet.ts')
  const { signal, stdout, stderr } = spawnSync(process.execPath, [script, folder, action, crashPoint], {
    encoding: 'utf8',
  })
  expect(signal, stdout + stderr).toBe('SIGKILL')
  opened = openTestWallet({ folder })
  return opened
}

/** Reopens the wallet, as a restart does. */
function reopen({ folder }: TestWallet): TestWallet['wallet'] {
  opened?.close()
  opened = openTestWallet({ folder })
  return opened.wallet
}

/** Lists the names of the sealed entries in the vault. */
function listSecrets({ vaultFile }: TestWallet): string[] {
  const { entries } = JSON.parse(readFileSync(vaultFile, 'utf8')) as { entries: Record<string, string> }
  return Object.keys(entries)
    .filter((name) => name !== 'header')
    .sort()
}

describe('a crash while the first secret is added', () => {
  test.each(['1', '2'])(
    'before the rename of file %s leaves no wallet, and another can be created',
    async (crashPoint) => {
      const { wallet } = afterCrash('empty', 'create', crashPoint)
      expect(await wallet.status()).toMatchObject({ state: 'absent', keyrings: [] })
      const otherKey = { privateKey: firstKey, chainType: 'evm', passphrase: 'another horse battery' } as const
      expect(await wallet.addPrivateKey(otherKey)).toMatchObject({ label: 'Key 1' })
    },
  )

  test('before its row was written loses nothing and the passphrase restores its accounts', async () => {
    const { wallet } = afterCrash('empty', 'create', 'row')
    expect(await wallet.status()).toMatchObject({ state: 'locked', keyrings: [] })
    await wallet.unlock(passphrase)
    expect(wallet.account('evm').address).toBe(secondAddress)
    expect(await wallet.status()).toMatchObject({ state: 'unlocked', detail: null, keyrings: [{ words: 12 }] })
  })
})

describe('a secret added again after a crash, before recovery', () => {
  const phrase = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about'
  const again = { phrase, writtenDown: true, passphrase }

  test('is in the wallet once with one secret', async () => {
    const crashed = afterCrash('made', 'create', 'row')
    const { id } = await crashed.wallet.addPhrase(again)
    const wallet = reopen(crashed)
    await wallet.unlock(passphrase)
    expect(await wallet.status()).toMatchObject({ state: 'unlocked', detail: null, keyrings: [{}, { id }] })
    expect(await readKey(wallet, 1)).toHaveLength(64)
    expect(listSecrets(crashed)).toEqual([(await wallet.status()).keyrings[0]?.id, id].sort())
  })

  test('is repaired from the crash remains if its own secret is missing', async () => {
    const crashed = afterCrash('made', 'create', 'row')
    const { id } = await crashed.wallet.addPhrase(again)
    crashed.close()
    const file = JSON.parse(readFileSync(crashed.vaultFile, 'utf8'))
    delete file.entries[id]
    writeFileSync(crashed.vaultFile, JSON.stringify(file))
    const wallet = reopen(crashed)
    await wallet.unlock(passphrase)
    expect(await wallet.status()).toMatchObject({ state: 'unlocked', detail: null, keyrings: [{}, { id }] })
    expect(await readKey(wallet, 1)).toHaveLength(64)
  })

  test('that is only one part leaves the rest to be recovered', async () => {
    const crashed = afterCrash('made', 'create', 'row')
    const privateKey = '1ab42cc412b618bdea3a599e3c9bae199ebf030895b039e9db1e30dafb12b727'
    await crashed.wallet.addPrivateKey({ privateKey, chainType: 'evm', label: 'Part', passphrase })
    const wallet = reopen(crashed)
    await wallet.unlock(passphrase)
    expect(wallet.accounts().map(({ address, label }) => [address.slice(0, 6), label])).toEqual([
      ['0x19E7', 'Account'],
      ['0x9858', 'Account'],
      ['HAgk14', 'Solana 1'],
    ])
  })
})

describe('a crash while a second secret is added', () => {
  test.each([
    ['1', []],
    ['2', []],
    ['row', [secondAddress]],
  ])('at %s preserves the first and shows the second completely or not at all', async (crashPoint, more) => {
    const { wallet } = afterCrash('made', 'create', crashPoint)
    const before = await wallet.status()
    expect(before).toMatchObject({ state: 'locked', keyrings: [{ label: 'First' }] })
    expect(before.keyrings).toHaveLength(1)
    await wallet.unlock(passphrase)
    const evm = wallet.accounts().filter(({ chainType }) => chainType === 'evm')
    expect(evm.slice(1).map(({ address }) => address)).toEqual(more)
    expect(await wallet.status()).toMatchObject({ state: 'unlocked', detail: null })
    expect(await readKey(wallet, 0)).toBe(firstKey)
    for (const [index] of evm.entries()) expect(await readKey(wallet, index)).toHaveLength(64)
  })
})

test('a crash while the last secret is removed does not restore it', async () => {
  const { wallet, folder } = afterCrash('made', 'remove', '1')
  expect(await wallet.status()).toMatchObject({ state: 'absent', keyrings: [] })
  opened?.close()
  opened = openTestWallet({ folder })
  expect(await opened.wallet.status()).toMatchObject({ state: 'absent', keyrings: [] })
})

test('a crash while the passphrase is changed preserves the old one', async () => {
  const { wallet } = afterCrash('made', 'change', '1')
  await wallet.unlock(passphrase)
  expect(await readKey(wallet, 0)).toBe(firstKey)
})

async function readKey(wallet: TestWallet['wallet'], index: number): Promise<string> {
  const account = wallet.accounts().filter(({ chainType }) => chainType === 'evm')[index]
  if (!account) throw new Error(`There is no account ${index}.`)
  return wallet.withKey(account.id, (key) => Buffer.from(key).toString('hex'))
}
