import { afterEach, beforeEach, expect, test } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporaryFolder.ts'
import { type TestWallet, walletOf } from '../../../../test/support/walletOf.ts'

const passphrase = 'correct horse battery'
/** https://github.com/trezor/python-mnemonic and every documentation of a local chain: its addresses are public. */
const phrase = 'test test test test test test test test test test test junk'

let it: TestWallet
let nowMs = Date.UTC(2026, 0, 1)

beforeEach(() => {
  it = walletOf({ folder: temporaryFolder('wallet'), now: () => nowMs })
})
afterEach(() => it.close())

test('is absent, then holds the first accounts of a phrase, unlocked', async () => {
  expect(await it.wallet.status()).toMatchObject({ state: 'absent', keyrings: [], backend: { kind: 'vault_file' } })
  const keyring = await it.wallet.addPhrase({ phrase, writtenDown: true, passphrase })
  expect(keyring).toMatchObject({
    kind: 'phrase',
    words: 12,
    accounts: [
      { chain_type: 'evm', address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', derivation_path: `m/44'/60'/0'/0/0` },
      { chain_type: 'solana', derivation_path: `m/44'/501'/0'/0'` },
    ],
  })
  expect(await it.wallet.status()).toMatchObject({ state: 'unlocked', detail: null, keyrings: [keyring] })
  const evm = it.wallet.account('evm')
  const lent = await it.wallet.lend(evm.id, (key) => {
    expect(Buffer.from(key).toString('hex')).toBe('ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
    return key
  })
  expect(lent).toEqual(new Uint8Array(32))

  it.wallet.lock()
  await expect(it.wallet.lend(evm.id, () => 0)).rejects.toMatchObject({ code: 'wallet/locked' })
  await expect(it.wallet.unlock('wrong passphrase')).rejects.toMatchObject({ code: 'wallet/passphrase' })
  await it.wallet.unlock(passphrase)
  expect(it.wallet.isUnlocked()).toBe(true)
  nowMs += 15 * 60_000
  expect(await it.wallet.status()).toMatchObject({ state: 'locked' })
  expect(it.notes.map(({ kind }) => kind)).toEqual([
    'wallet.imported',
    'wallet.locked',
    'wallet.unlocked',
    'wallet.locked',
  ])
})
