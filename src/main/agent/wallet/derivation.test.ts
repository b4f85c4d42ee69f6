import { HDNodeWallet } from 'ethers'
import { describe, expect, test } from 'vitest'
import { addressOf } from './addresses.ts'
import { derivedKey, indexOf, pathOf, slip10Key } from './derivation.ts'
import { entropyOf, seedOf } from './recoveryPhrase.ts'

const junk = 'test test test test test test test test test test test junk'
const about = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about'

async function accountOf(phrase: string, chainType: 'evm' | 'solana', index: number): Promise<string> {
  const seed = await seedOf(await entropyOf(phrase))
  return addressOf(chainType, await derivedKey(seed, chainType, pathOf(chainType, index)))
}

describe('accounts of a phrase', () => {
  test.each([
    // https://hardhat.org/hardhat-network/docs/reference#accounts, https://getfoundry.sh/anvil/overview
    [junk, 'evm', 0, '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'],
    [junk, 'evm', 1, '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'],
    [junk, 'evm', 9, '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'],
    // The phrase of every documentation of BIP-39.
    [about, 'evm', 0, '0x9858EfFD232B4033E47d90003D41EC34EcaEda94'],
    [about, 'solana', 0, 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk'],
  ] as const)('of “%s” (%s %i) is %s', async (phrase, chainType, index, address) => {
    expect(await accountOf(phrase, chainType, index)).toBe(address)
  })

  test('are those of another library, far out too', async () => {
    const other = HDNodeWallet.fromPhrase(junk, '', pathOf('evm', 12_345))
    expect(await accountOf(junk, 'evm', 12_345)).toBe(other.address)
  })

  test('have paths that tell their index', () => {
    expect(pathOf('evm', 7)).toBe(`m/44'/60'/0'/0/7`)
    expect(pathOf('solana', 7)).toBe(`m/44'/501'/7'/0'`)
    for (const chainType of ['evm', 'solana'] as const) expect(indexOf(chainType, pathOf(chainType, 7))).toBe(7)
  })
})

/** https://github.com/satoshilabs/slips/blob/master/slip-0010.md#test-vectors */
describe('SLIP-10 with Ed25519', () => {
  const first = '000102030405060708090a0b0c0d0e0f'
  const second =
    'fffcf9f6f3f0edeae7e4e1dedbd8d5d2cfccc9c6c3c0bdbab7b4b1aeaba8a5a29f9c999693908d8a8784817e7b7875726f6c696663605d5a5754514e4b484542'
  test.each([
    [first, 'm', '2b4be7f19ee27bbf30c667b642d5f4aa69fd169872f8fc3059c08ebae2eb19e7'],
    [first, `m/0'`, '68e0fe46dfb67e368c75379acec591dad19df3cde26e63b93a8e704f1dade7a3'],
    [first, `m/0'/1'`, 'b1d0bad404bf35da785a64ca1ac54b2617211d2777696fbffaf208f746ae84f2'],
    [first, `m/0'/1'/2'`, '92a5b23c0b8a99e37d07df3fb9966917f5d06e02ddbd909c7e184371463e9fc9'],
    [first, `m/0'/1'/2'/2'`, '30d1dc7e5fc04c31219ab25a27ae00b50f6fd66622f6e9c913253d6511d1e662'],
    [first, `m/0'/1'/2'/2'/1000000000'`, '8f94d394a8e8fd6b1bc2f3f49f5c47e385281d5c17e65324b0f62483e37e8793'],
    [second, 'm', '171cb88b1b3c1db25add599712e36245d75bc65a1a5c9e18d76f9f2b1eab4012'],
    [second, `m/0'`, '1559eb2bbec5790b0c65d8693e4d0875b1747f4970ae8b650486ed7470845635'],
    [second, `m/0'/2147483647'`, 'ea4f5bfe8694d8bb74b7b59404632fd5968b774ed545e810de9c32a4fb4192f4'],
  ])('of %s at %s', (seed, path, key) => {
    expect(Buffer.from(slip10Key(Buffer.from(seed, 'hex'), path)).toString('hex')).toBe(key)
  })
})
