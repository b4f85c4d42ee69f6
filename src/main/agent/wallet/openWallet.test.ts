import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Wallet, WalletAccountId } from '#shared/contract/wallet.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { openTestWallet, type TestWallet } from '#test/support/fixtures/openTestWallet.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { fullCost } from './vaultHeader.ts'

const passphrase = 'correct horse battery'
/** Well-known accounts whose addresses appear in the documentation of many programs. */
const junk = 'test test test test test test test test test test test junk'
const junkKey = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const junkAddress = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const about = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about'

let opened: TestWallet
let nowMs = Date.UTC(2026, 0, 1)

beforeEach(() => {
  opened = openTestWallet({ folder: temporaryFolder('wallet'), now: () => nowMs })
})
afterEach(() => opened.close())

/** Reopens the wallet, as after a restart. */
const reopen = (): TestWallet => {
  opened.close()
  opened = openTestWallet({ folder: opened.folder, now: () => nowMs })
  return opened
}
const addJunk = () => opened.wallet.addPhrase({ phrase: junk, writtenDown: true, passphrase })
const exportKey = (id: WalletAccountId): Promise<string> =>
  opened.wallet.withKey(id, (key) => Buffer.from(key).toString('hex'))
const kinds = (): string[] => opened.notes.map(({ kind }) => kind)

describe('a wallet', () => {
  test('is absent first, then holds the first accounts of a phrase and is unlocked', async () => {
    expect(await opened.wallet.status()).toMatchObject({
      state: 'absent',
      keyrings: [],
      default_accounts: { evm: null, solana: null },
      backend: { kind: 'vault_file', name: 'Encrypted file', detail: expect.stringContaining(opened.vaultFile) },
    })
    expect(() => opened.wallet.account('evm')).toThrow(expect.objectContaining({ code: 'wallet/absent' }))
    await expect(opened.wallet.unlock(passphrase)).rejects.toMatchObject({ code: 'wallet/absent' })
    const keyring = await addJunk()
    expect(keyring).toMatchObject({
      kind: 'phrase',
      label: 'Phrase 1',
      words: 12,
      written_down: true,
      accounts: [
        { chain_type: 'evm', address: junkAddress, derivation_path: `m/44'/60'/0'/0/0`, label: 'Account 1' },
        { chain_type: 'solana', derivation_path: `m/44'/501'/0'/0'`, label: 'Solana 1' },
      ],
    })
    expect(await opened.wallet.status()).toMatchObject({ state: 'unlocked', detail: null, keyrings: [keyring] })
    expect(opened.events).toContainEqual({ type: 'wallet.changed' })
  })

  test('lends a key and zeroes it afterwards', async () => {
    await addJunk()
    const { id } = opened.wallet.account('evm')
    const result = await opened.wallet.withKey(id, (key) => {
      expect(Buffer.from(key).toString('hex')).toBe(junkKey)
      return key
    })
    expect(result).toEqual(new Uint8Array(32))
    const failed: Uint8Array[] = []
    const failing = opened.wallet.withKey(id, (key) => {
      failed.push(key)
      throw new Error('not signed')
    })
    await expect(failing).rejects.toThrow('not signed')
    expect(failed).toEqual([new Uint8Array(32)])
  })

  test('lends a separate copy of a key on each request', async () => {
    const { id: keyringId } = await addJunk()
    const solana = opened.wallet.account('solana').id
    const { id } = opened.wallet.account('evm')
    const first = await exportKey(solana)
    const lentKeys: Uint8Array[] = []
    await opened.wallet.withKey(id, (a) => opened.wallet.withKey(id, (b) => void lentKeys.push(a, b)))
    expect(lentKeys).toEqual([new Uint8Array(32), new Uint8Array(32)])
    expect(lentKeys[0]).not.toBe(lentKeys[1])
    await opened.wallet.addPrivateKey({ privateKey: '1'.repeat(64), chainType: 'evm', label: 'Other', passphrase })
    expect([await exportKey(id), await exportKey(solana), await exportKey(solana)]).toEqual([junkKey, first, first])
    await opened.wallet.remove(keyringId, { typedLabel: 'Phrase 1', passphrase })
    await expect(exportKey(id)).rejects.toMatchObject({ code: 'wallet/account-not-found' })
    expect(await exportKey(opened.wallet.account('evm').id)).toBe('1'.repeat(64))
  })

  test('lends no key if locked during derivation', async () => {
    await addJunk()
    const lending = exportKey(opened.wallet.account('evm').id)
    opened.wallet.lock()
    await expect(lending).rejects.toMatchObject({
      code: 'wallet/locked',
      message: 'The wallet was locked in the meantime.',
    })
  })

  test('unlocks after a restart with only its passphrase', async () => {
    const keyring = await addJunk()
    const { id } = opened.wallet.account('evm')
    reopen()
    expect(await opened.wallet.status()).toMatchObject({ state: 'locked', keyrings: [keyring] })
    expect(opened.wallet.isUnlocked()).toBe(false)
    await expect(exportKey(id)).rejects.toMatchObject({ code: 'wallet/locked' })
    await expect(opened.wallet.unlock('wrong horse battery')).rejects.toMatchObject({ code: 'wallet/passphrase' })
    await opened.wallet.unlock(passphrase)
    expect(await exportKey(id)).toBe(junkKey)
    opened.wallet.lock()
    await expect(exportKey(id)).rejects.toMatchObject({ code: 'wallet/locked' })
    expect(kinds()).toEqual(['wallet.unlocked', 'wallet.locked'])
  })

  test('signs during a second unlock even if that fails', async () => {
    await addJunk()
    const { id } = opened.wallet.account('evm')
    const meanwhile: string[] = []
    let isAway = false
    opened.close()
    opened = openTestWallet({
      folder: opened.folder,
      now: () => nowMs,
      async beforeRead(name) {
        if (name === 'header' || !opened.wallet.isUnlocked()) return
        meanwhile.push(await exportKey(id))
        if (isAway) throw new Error('The vault is away.')
      },
    })
    await opened.wallet.unlock(passphrase)
    await opened.wallet.unlock(passphrase)
    isAway = true
    await expect(opened.wallet.unlock(passphrase)).rejects.toThrow('The vault is away.')
    expect(meanwhile).toEqual([junkKey, junkKey])
    expect(await opened.wallet.status()).toMatchObject({ state: 'unlocked', detail: null })
    expect(await exportKey(id)).toBe(junkKey)
  })

  test.each([
    ['locked', () => opened.wallet.lock()],
    ['locked with the screen', () => opened.wallet.lock('screen')],
    ['closed', () => opened.wallet.close()],
  ])('stays %s if that happens during unlock', async (_, shut) => {
    await addJunk()
    opened.wallet.lock()
    const unlocking = opened.wallet.unlock(passphrase)
    shut()
    await expect(unlocking).rejects.toMatchObject({ code: 'wallet/locked' })
    expect(opened.wallet.isUnlocked()).toBe(false)
    expect(kinds()).toEqual(['wallet.imported', 'wallet.locked'])
    const adding = opened.wallet.addPrivateKey({ privateKey: '1'.repeat(64), chainType: 'evm', passphrase })
    shut()
    expect(await adding).toMatchObject({ label: 'Key 1' })
    expect(opened.wallet.isUnlocked()).toBe(false)
  })

  test('accepts the passphrase in another Unicode form', async () => {
    await opened.wallet.addPhrase({ phrase: junk, writtenDown: true, passphrase: 'Pässwörter ①②③' })
    await opened.wallet.checkPassphrase('Pässwörter ①②③'.normalize('NFD'))
    await opened.wallet.checkPassphrase('Pässwörter 123')
  })

  test('holds phrases, private keys and keystore files together', async () => {
    await opened.wallet.addPhrase({ phrase: about, isNew: true, writtenDown: true, passphrase })
    const key = await opened.wallet.addPrivateKey({
      privateKey: `0x${junkKey}`,
      chainType: 'evm',
      label: 'Old',
      passphrase,
    })
    expect(key).toMatchObject({ kind: 'private_key', label: 'Old', words: null, accounts: [{ address: junkAddress }] })
    const exported = await opened.wallet.exportKeystore(opened.wallet.accounts()[0]?.id ?? fail(), {
      passphrase,
      password: 'a password for the file',
    })
    expect(exported.fileName).toMatch(/^UTC--2026-.*--9858effd232b4033e47d90003d41ec34ecaeda94\.json$/)
    const again = { json: exported.json, password: 'a password for the file', passphrase }
    await expect(opened.wallet.addKeystore(again)).rejects.toMatchObject({ code: 'wallet/duplicate' })
    const [phrase] = (await opened.wallet.status()).keyrings
    await opened.wallet.remove(phrase?.id ?? fail(), { typedLabel: 'Phrase 1', passphrase })
    expect(await opened.wallet.addKeystore(again)).toMatchObject({
      label: 'Key 1',
      accounts: [{ address: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94' }],
    })
    expect(kinds()).toEqual([
      'wallet.created',
      'wallet.imported',
      'wallet.exported',
      'wallet.removed',
      'wallet.imported',
    ])
  })

  test('derives the next accounts and skips one that was imported separately', async () => {
    const { id: keyringId } = await addJunk()
    const third = '5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a'
    await opened.wallet.addPrivateKey({ privateKey: third, chainType: 'evm', passphrase })
    await opened.wallet.addAccount({ keyringId, chainType: 'evm' })
    await opened.wallet.addAccount({ keyringId, chainType: 'evm', label: 'Savings' })
    await opened.wallet.addAccount({ keyringId, chainType: 'solana' })
    const [{ accounts = [] } = {}] = (await opened.wallet.status()).keyrings
    expect(accounts.map(({ derivation_path: path, label }) => `${path} ${label}`)).toEqual([
      `m/44'/60'/0'/0/0 Account 1`,
      `m/44'/501'/0'/0' Solana 1`,
      `m/44'/60'/0'/0/1 Account 2`,
      `m/44'/60'/0'/0/3 Savings`,
      `m/44'/501'/1'/0' Solana 2`,
    ])
    expect(accounts[2]?.address).toBe('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')
    opened.wallet.lock()
    await expect(opened.wallet.addAccount({ keyringId, chainType: 'evm' })).rejects.toMatchObject({
      code: 'wallet/locked',
    })
  })

  test('signs with the default account, else with the first', async () => {
    const { id: keyringId } = await addJunk()
    await opened.wallet.addAccount({ keyringId, chainType: 'evm' })
    const [first, , second] = opened.wallet.accounts()
    expect(opened.wallet.account('evm').id).toBe(first?.id)
    opened.wallet.setDefault(second?.id ?? fail())
    expect(opened.wallet.account('evm').id).toBe(second?.id)
    expect(await opened.wallet.status()).toMatchObject({ default_accounts: { evm: second?.id } })
    expect(() => opened.wallet.account('solana', second?.id)).toThrow(/is not a Solana account/)
    opened.wallet.renameAccount(second?.id ?? fail(), 'Renamed')
    opened.wallet.renameKeyring(keyringId, 'Mine')
    expect(opened.wallet.account('evm').label).toBe('Renamed')
    expect(await opened.wallet.status()).toMatchObject({ keyrings: [{ label: 'Mine' }] })
  })

  test.each([
    ['the same phrase', { phrase: junk }],
    ['the same phrase in other letters', { phrase: `  ${junk.toUpperCase()} ` }],
  ])('rejects %s as a duplicate', async (_, input) => {
    await addJunk()
    const again = opened.wallet.addPhrase({ ...input, writtenDown: true, passphrase })
    await expect(again).rejects.toMatchObject({ code: 'wallet/duplicate' })
    const key = opened.wallet.addPrivateKey({ privateKey: junkKey, chainType: 'evm', passphrase })
    await expect(key).rejects.toMatchObject({ code: 'wallet/duplicate', message: expect.stringContaining('Account 1') })
    expect((await opened.wallet.status()).keyrings).toHaveLength(1)
  })

  test('names a missing account', async () => {
    await addJunk()
    const account = `wal_${'0'.repeat(24)}` as WalletAccountId
    expect(() => opened.wallet.account('evm', account)).toThrow(`There is no account ${account}.`)
    expect(() => opened.wallet.renameAccount(account, 'x')).toThrow(`There is no account ${account}.`)
    await expect(exportKey(account)).rejects.toMatchObject({ code: 'wallet/account-not-found' })
  })
})

describe('a passphrase', () => {
  test.each([
    ['nine char', 'Use at least 10 characters, for example four random words.'],
    ['aaaaaaaaaaaa', "Don't repeat one character."],
    ['x'.repeat(2000), 'Use at most 1024 characters.'],
  ])('is rejected when weak: %#', async (weak, message) => {
    const adding = opened.wallet.addPhrase({ phrase: junk, writtenDown: true, passphrase: weak })
    await expect(adding).rejects.toMatchObject({ code: 'wallet/passphrase-weak', message })
    expect(await opened.wallet.status()).toMatchObject({ state: 'absent' })
    expect(existsSync(opened.vaultFile)).toBe(false)
  })

  test('is required to export or remove secrets and a wrong one changes nothing', async () => {
    const { id, label, accounts } = await addJunk()
    const wrong = { passphrase: 'wrong horse battery' }
    const before = readFileSync(opened.vaultFile, 'utf8')
    const tries = [
      () => opened.wallet.revealPhrase(id, wrong.passphrase),
      () => opened.wallet.exportKeystore(accounts[0]?.id ?? fail(), { ...wrong, password: 'a password for it' }),
      () => opened.wallet.remove(id, { ...wrong, typedLabel: label }),
      () => opened.wallet.changePassphrase({ from: wrong.passphrase, to: 'another horse battery' }),
    ]
    for (const attempt of tries) await expect(attempt()).rejects.toMatchObject({ code: 'wallet/passphrase' })
    expect(readFileSync(opened.vaultFile, 'utf8')).toBe(before)
    expect(await opened.wallet.revealPhrase(id, passphrase)).toBe(junk)
    expect(kinds()).toEqual(['wallet.imported', 'wallet.revealed'])
  })

  test('is throttled after wrong attempts until the right one', async () => {
    await addJunk()
    const attempt = (text: string) => opened.wallet.checkPassphrase(text)
    for (let count = 0; count < 5; count += 1) {
      await expect(attempt('wrong horse battery')).rejects.toMatchObject({ code: 'wallet/passphrase' })
    }
    await expect(attempt(passphrase)).rejects.toMatchObject({ code: 'request/rate', retryAfterSeconds: 5 })
    nowMs += 5_000
    await expect(attempt('wrong horse battery')).rejects.toMatchObject({ code: 'wallet/passphrase' })
    await expect(attempt(passphrase)).rejects.toMatchObject({ retryAfterSeconds: 10 })
    nowMs += 10_000
    await attempt(passphrase)
    await expect(attempt('wrong horse battery')).rejects.toMatchObject({ code: 'wallet/passphrase' })
    await attempt(passphrase)
  })

  test('changes without a new key and rewrites only the header', async () => {
    await addJunk()
    const { id } = opened.wallet.account('evm')
    const before = entries()
    await opened.wallet.changePassphrase({ from: passphrase, to: 'another horse battery' })
    const after = entries()
    expect(Object.keys(after).filter((name) => after[name] !== before[name])).toEqual(['header'])
    reopen()
    await expect(opened.wallet.unlock(passphrase)).rejects.toMatchObject({ code: 'wallet/passphrase' })
    await opened.wallet.unlock('another horse battery')
    expect(await exportKey(id)).toBe(junkKey)
  })

  test('is derived with scrypt at full cost', async () => {
    opened.close()
    opened = openTestWallet({ folder: opened.folder, now: () => nowMs, cost: fullCost })
    await addJunk()
    expect(readHeader()).toMatchObject({ version: 1, kdf: { name: 'scrypt', n: 131_072, r: 8, p: 1 } })
  })
})

describe('removal', () => {
  test('requires the exact label', async () => {
    const { id } = await addJunk()
    const removing = opened.wallet.remove(id, { typedLabel: 'phrase 1', passphrase })
    await expect(removing).rejects.toMatchObject({ code: 'wallet/confirmation' })
    expect((await opened.wallet.status()).keyrings).toHaveLength(1)
  })

  test('removes one keyring and leaves the other unchanged', async () => {
    const { id } = await addJunk()
    await opened.wallet.addPrivateKey({ privateKey: '1'.repeat(64), chainType: 'evm', label: 'Kept', passphrase })
    await opened.wallet.remove(id, { typedLabel: 'Phrase 1', passphrase })
    expect(await opened.wallet.status()).toMatchObject({ state: 'unlocked', keyrings: [{ label: 'Kept' }] })
    expect(Object.keys(entries())).toHaveLength(2)
    expect(await exportKey(opened.wallet.account('evm').id)).toBe('1'.repeat(64))
  })

  test('of the last keyring deletes the wallet and its file', async () => {
    const { id } = await addJunk()
    await opened.wallet.remove(id, { typedLabel: 'Phrase 1', passphrase })
    expect(await opened.wallet.status()).toMatchObject({ state: 'absent', keyrings: [] })
    expect(opened.wallet.isUnlocked()).toBe(false)
    expect(readdirSync(join(opened.folder, 'wallet'))).toEqual([])
    await opened.wallet.addPhrase({ phrase: about, writtenDown: true, passphrase: 'another horse battery' })
    expect(await opened.wallet.status()).toMatchObject({ state: 'unlocked' })
  })
})

describe('auto-lock', () => {
  const minuteMs = 60_000

  test('locks 15 minutes after the last use, even without a timer', async () => {
    await addJunk()
    nowMs += 14 * minuteMs
    await exportKey(opened.wallet.account('evm').id)
    nowMs += 14 * minuteMs
    expect(opened.wallet.isUnlocked()).toBe(true)
    nowMs += minuteMs
    expect(await opened.wallet.status()).toMatchObject({ state: 'locked', auto_lock_minutes: 15 })
    expect(opened.notes.at(-1)).toMatchObject({ kind: 'wallet.locked', actor: { kind: 'system' } })
    // Keys cannot be used before the state was read either.
    await opened.wallet.unlock(passphrase)
    nowMs += 15 * minuteMs
    await expect(exportKey(opened.wallet.account('evm').id)).rejects.toMatchObject({ code: 'wallet/locked' })
  })

  test('locks on a timer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      await addJunk()
      nowMs += 15 * minuteMs
      vi.advanceTimersByTime(15 * minuteMs)
      expect(kinds()).toEqual(['wallet.imported', 'wallet.locked'])
    } finally {
      vi.useRealTimers()
    }
  })

  test('accepts another timeout or none', async () => {
    await addJunk()
    opened.wallet.setAutoLock(null)
    nowMs += 10_000 * minuteMs
    expect(opened.wallet.isUnlocked()).toBe(true)
    opened.wallet.setAutoLock(1)
    expect(opened.wallet.isUnlocked()).toBe(false)
    reopen()
    expect(await opened.wallet.status()).toMatchObject({ auto_lock_minutes: 1 })
  })
})

describe('damage', () => {
  const flipByte = (text: string): string => text.replace(/.(?=.{12}$)/, (char) => (char === 'A' ? 'B' : 'A'))
  type Header = {
    kdf: Record<string, unknown>
    data_key: string
    names: string[]
    names_seal: string
    checksum: string
  }

  test.each<[string, (header: Header) => unknown]>([
    ['its version', (header) => ({ ...header, version: 2 })],
    ['its salt', (header) => ({ ...header, kdf: { ...header.kdf, salt: flipByte(String(header.kdf.salt)) } })],
    ['a cheaper derivation', (header) => ({ ...header, kdf: { ...header.kdf, n: 2 } })],
    ['an endless derivation', (header) => ({ ...header, kdf: { ...header.kdf, n: 2 ** 40 } })],
    ['its wrapped key', (header) => ({ ...header, data_key: flipByte(header.data_key) })],
    ['its names', (header) => ({ ...header, names: [] })],
    ['the seal of its names', (header) => ({ ...header, names_seal: flipByte(header.names_seal) })],
    ['its checksum', (header) => ({ ...header, checksum: flipByte(header.checksum) })],
    ['nothing but half of it', (header) => JSON.stringify(header).slice(0, 90)],
  ])('of the header is reported: %s', async (_, change) => {
    await addJunk()
    opened.wallet.lock()
    const changed = change(readHeader())
    setEntry('header', typeof changed === 'string' ? changed : JSON.stringify(changed))
    const before = readFileSync(opened.vaultFile, 'utf8')
    await expect(opened.wallet.unlock(passphrase)).rejects.toMatchObject({ code: 'wallet/damaged' })
    const adding = opened.wallet.addPhrase({ phrase: about, writtenDown: true, passphrase })
    await expect(adding).rejects.toMatchObject({ code: 'wallet/damaged' })
    expect(readFileSync(opened.vaultFile, 'utf8')).toBe(before)
    expect(await opened.wallet.status()).toMatchObject({ state: 'damaged' })
  })

  test('of addresses in the database is reported and repaired from the keys', async () => {
    await addJunk()
    const rightOnes = await opened.wallet.status()
    opened.wallet.lock()
    const database = openDatabase(join(opened.folder, 'agent.sqlite'))
    database.exec(
      "UPDATE wallet_accounts SET address = '0x000000000000000000000000000000000000dEaD' WHERE chain_type = 'evm'",
    )
    database.exec("UPDATE wallet_accounts SET path = 'nowhere' WHERE chain_type = 'solana'")
    database.close()
    await opened.wallet.unlock(passphrase)
    const addresses = ({ keyrings }: Wallet) =>
      keyrings.flatMap(({ accounts }) => accounts.map(({ address }) => address))
    expect(addresses(await opened.wallet.status())).toEqual(addresses(rightOnes))
    expect(opened.notes.filter(({ kind }) => kind === 'wallet.address_corrected')).toMatchObject([
      { summary: expect.stringContaining("don't send anything there") },
    ])
  })

  test('of the file is reported and the file is not overwritten', async () => {
    await addJunk()
    opened.wallet.lock()
    const cut = readFileSync(opened.vaultFile, 'utf8').slice(0, -30)
    writeFileSync(opened.vaultFile, cut)
    expect(await opened.wallet.status()).toMatchObject({
      state: 'damaged',
      detail: expect.stringContaining(opened.vaultFile),
    })
    await expect(opened.wallet.unlock(passphrase)).rejects.toMatchObject({ code: 'wallet/damaged' })
    await expect(addJunk()).rejects.toMatchObject({ code: 'wallet/damaged' })
    expect(readFileSync(opened.vaultFile, 'utf8')).toBe(cut)
  })

  test('of one secret leaves the other usable and is repaired by importing again', async () => {
    const { id } = await addJunk()
    const otherAccount = await opened.wallet.addPrivateKey({ privateKey: '1'.repeat(64), chainType: 'evm', passphrase })
    setEntry(id, JSON.stringify({ ...JSON.parse(entries()[id] ?? ''), kind: 'evm' }))
    reopen()
    await opened.wallet.unlock(passphrase)
    expect(await opened.wallet.status()).toMatchObject({
      state: 'unlocked',
      detail: expect.stringContaining('“Phrase 1”'),
    })
    const [broken] = opened.wallet.accounts()
    await expect(exportKey(broken?.id ?? fail())).rejects.toMatchObject({ code: 'wallet/damaged' })
    expect(await exportKey(otherAccount.accounts[0]?.id ?? fail())).toBe('1'.repeat(64))

    expect((await addJunk()).id).toBe(id)
    expect(await exportKey(broken?.id ?? fail())).toBe(junkKey)
    expect(await opened.wallet.status()).toMatchObject({ state: 'unlocked', detail: null })
  })

  test('swapped secrets do not decrypt under the other id', async () => {
    const account = await opened.wallet.addPrivateKey({ privateKey: '1'.repeat(64), chainType: 'evm', passphrase })
    const two = await opened.wallet.addPrivateKey({ privateKey: '2'.repeat(64), chainType: 'evm', passphrase })
    const { [account.id]: first = '', [two.id]: second = '' } = entries()
    setEntry(account.id, second)
    setEntry(two.id, first)
    reopen()
    await opened.wallet.unlock(passphrase)
    for (const { id } of opened.wallet.accounts())
      await expect(exportKey(id)).rejects.toMatchObject({ code: 'wallet/damaged' })
  })

  test('a missing vault is reported and restored by importing the phrase', async () => {
    const { id } = await addJunk()
    reopen()
    rmSync(opened.vaultFile)
    expect(await opened.wallet.status()).toMatchObject({ state: 'damaged' })
    await expect(opened.wallet.unlock(passphrase)).rejects.toMatchObject({ code: 'wallet/damaged' })
    const again = { phrase: junk, writtenDown: true, passphrase: 'another horse battery' }
    expect(await opened.wallet.addPhrase(again)).toMatchObject({ id, label: 'Phrase 1' })
    expect(await exportKey(opened.wallet.account('evm').id)).toBe(junkKey)
  })

  test('a lost database loses labels but no secret', async () => {
    await addJunk()
    await opened.wallet.addPrivateKey({ privateKey: '1'.repeat(64), chainType: 'solana', label: 'Old', passphrase })
    const addresses = opened.wallet.accounts().map(({ address }) => address)
    opened.close()
    for (const name of readdirSync(opened.folder))
      if (name.startsWith('agent.sqlite')) rmSync(join(opened.folder, name))
    reopen()
    expect(await opened.wallet.status()).toMatchObject({ state: 'locked', keyrings: [] })
    await opened.wallet.unlock(passphrase)
    expect(opened.wallet.accounts().map(({ address }) => address)).toEqual(addresses)
    expect(await exportKey(opened.wallet.account('evm').id)).toBe(junkKey)
  })
})

test('files, logs and activity entries contain no secret', async () => {
  const { id, accounts } = await addJunk()
  await opened.wallet.revealPhrase(id, passphrase)
  await opened.wallet.exportKeystore(accounts[0]?.id ?? fail(), { passphrase, password: 'a password for the file' })
  await opened.wallet.unlock('planted wrong passphrase').catch(() => {})
  opened.wallet.lock()
  const files = ['agent.sqlite', 'agent.sqlite-wal', 'wallet/vault.json'].map((name) =>
    readFileSync(join(opened.folder, name)),
  )
  const written = Buffer.concat([...files, Buffer.from(JSON.stringify([opened.notes, opened.events]))])
  const key = Buffer.from(junkKey, 'hex')
  for (const secret of [
    junk,
    'test test',
    junkKey,
    key,
    key.toString('base64'),
    passphrase,
    'planted',
    'for the file',
  ]) {
    expect(written.includes(secret)).toBe(false)
  }
  expect(written.includes(junkAddress)).toBe(true)
})

function entries(): Record<string, string> {
  return (JSON.parse(readFileSync(opened.vaultFile, 'utf8')) as { entries: Record<string, string> }).entries
}

function readHeader() {
  return JSON.parse(entries().header ?? '') as never
}

function setEntry(name: string, value: string): void {
  writeFileSync(opened.vaultFile, JSON.stringify({ version: 1, entries: { ...entries(), [name]: value } }))
}

function fail(): never {
  throw new Error('The wallet has less than this test made.')
}
