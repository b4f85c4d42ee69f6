import { randomBytes, scryptSync } from 'node:crypto'
import { computeAddress, scrypt as scryptOfEthers, Wallet } from 'ethers'
import { describe, expect, test } from 'vitest'
import { makeKeystore, openKeystore, toKeystoreName } from './keystoreFile.ts'

/** https://ethereum.org/en/developers/docs/data-structures-and-encoding/web3-secret-storage/#test-vectors */
const vectors = {
  pbkdf2: {
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
      ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
      kdf: 'pbkdf2',
      kdfparams: {
        c: 262144,
        dklen: 32,
        prf: 'hmac-sha256',
        salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
      },
      mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
    },
    id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
    version: 3,
  },
  scrypt: {
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: '83dbcc02d8ccb40e466191a123791e0e' },
      ciphertext: 'd172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c',
      kdf: 'scrypt',
      kdfparams: {
        dklen: 32,
        n: 262144,
        r: 1,
        p: 8,
        salt: 'ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19',
      },
      mac: '2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097',
    },
    id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
    version: 3,
  },
}
const vectorKey = '7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d'
const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

describe('decrypts', () => {
  test.each(Object.entries(vectors))('the vector with %s', async (_, keystore) => {
    const { key, address } = await openKeystore(JSON.stringify(keystore), 'testpassword')
    expect(toHex(key)).toBe(vectorKey)
    expect(address).toBeUndefined()
  })

  test('a file made by ethers with a password in another Unicode form', async () => {
    const wallet = new Wallet(`0x${vectorKey}`)
    const { encryptKeystoreJson } = await import('ethers')
    const account = { address: wallet.address, privateKey: wallet.privateKey }
    const json = await encryptKeystoreJson(account, 'Pässwort ①', { scrypt: { N: 2, r: 8, p: 1 } })
    const { key, address } = await openKeystore(json, 'Pässwort ①'.normalize('NFD'))
    expect(toHex(key)).toBe(vectorKey)
    expect(`0x${address}`).toBe(wallet.address.toLowerCase())
  })

  test('an old file with a capitalized Crypto field', async () => {
    const { crypto, ...rest } = vectors.pbkdf2
    const { key } = await openKeystore(JSON.stringify({ ...rest, Crypto: crypto }), 'testpassword')
    expect(toHex(key)).toBe(vectorKey)
  })
})

// Replaces the JavaScript implementation of ethers, which is slow.
scryptOfEthers.register(async (secret, salt, N, r, p, bytes) =>
  scryptSync(secret, salt, bytes, { N, r, p, maxmem: 2 ** 28 }),
)

test('encrypts a file that ethers and Steward can decrypt', async () => {
  const key = randomBytes(32)
  const address = computeAddress(`0x${toHex(key)}`)
  const json = await makeKeystore(key, { password: 'Pässwort ① zum Mitnehmen', address })
  expect(JSON.parse(json)).toMatchObject({
    version: 3,
    address: address.slice(2).toLowerCase(),
    crypto: { kdf: 'scrypt', kdfparams: { n: 131_072, r: 8, p: 1, dklen: 32 } },
  })
  expect(json).not.toContain(toHex(key))
  expect((await Wallet.fromEncryptedJson(json, 'Pässwort ① zum Mitnehmen')).privateKey).toBe(`0x${toHex(key)}`)
  expect(toHex((await openKeystore(json, 'Pässwort ① zum Mitnehmen')).key)).toBe(toHex(key))
})

test('uses the standard file name', () => {
  const name = toKeystoreName('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', Date.UTC(2026, 0, 2, 3, 4, 5))
  expect(name).toBe('UTC--2026-01-02T03-04-05.000Z--f39fd6e51aad88f6f4ce6ab8827279cfffb92266.json')
})

describe('refuses', () => {
  type Changes = Record<string, unknown>
  const { crypto } = vectors.scrypt
  const createChanged = (changes: Changes, parameters: Changes = {}): string =>
    JSON.stringify({
      ...vectors.scrypt,
      crypto: { ...crypto, ...changes, kdfparams: { ...crypto.kdfparams, ...parameters } },
    })
  const notAllowed = /^This keystore cannot be opened: `[a-z.]*` is missing or not valid in Keystore V3\.$/

  test.each([
    ['a wrong password', JSON.stringify(vectors.pbkdf2), 'Wrong password for this file.'],
    ['what is not JSON', '{"version": 3', 'This file is not a keystore.'],
    ['a list', '[]', 'This file is not a keystore.'],
    ['another version', '{"version":1}', 'Only version 3 keystores can be imported.'],
    ['far too much', `"${'x'.repeat(70_000)}"`, 'This file is too large to be a keystore.'],
    ['no crypto', '{"version":3}', notAllowed],
    ['another cipher', createChanged({ cipher: 'aes-256-ctr' }), notAllowed],
    ['another derivation', createChanged({ kdf: 'argon2' }), notAllowed],
    ['a derivation that takes all memory', createChanged({}, { n: 2 ** 30 }), notAllowed],
    ['one that takes it by blocks', createChanged({}, { n: 2 ** 20, r: 64 }), notAllowed],
    ['one that never ends', createChanged({}, { p: 2 ** 20 }), notAllowed],
    ['an N that is no power of two', createChanged({}, { n: 1000 }), notAllowed],
    ['a short key', createChanged({}, { dklen: 16 }), notAllowed],
    ['odd digits', createChanged({ mac: 'abc' }), notAllowed],
  ])('%s', async (_, json, message) => {
    const matching = typeof message === 'string' ? message : expect.stringMatching(message)
    await expect(openKeystore(json, 'wrong')).rejects.toMatchObject({ code: 'wallet/keystore', message: matching })
  })

  test.each(['ciphertext', 'mac'] as const)('a modified %s', async (field) => {
    const { crypto: its } = vectors.pbkdf2
    const value = its[field].replace(/^../, (digits) => (digits === '00' ? '01' : '00'))
    const json = JSON.stringify({ ...vectors.pbkdf2, crypto: { ...its, [field]: value } })
    await expect(openKeystore(json, 'testpassword')).rejects.toMatchObject({ code: 'wallet/keystore' })
  })
})
