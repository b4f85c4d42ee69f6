import { sha256 } from '@noble/hashes/sha2'
import { createBase58check } from '@scure/base'
import { HDNodeWallet } from 'ethers'
import { describe, expect, test } from 'vitest'
import { deriveAddress } from './addresses.ts'
import { buildPath, deriveBip32Key, deriveKey, deriveSlip10Key, parseIndex } from './derivation.ts'
import { parsePhrase, toSeed } from './recoveryPhrase.ts'

const junk = 'test test test test test test test test test test test junk'
const about = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about'

async function deriveAccount(phrase: string, chainType: 'evm' | 'solana', index: number): Promise<string> {
  const seed = await toSeed(await parsePhrase(phrase))
  return deriveAddress(chainType, await deriveKey(seed, chainType, buildPath(chainType, index)))
}

describe('accounts of a recovery phrase', () => {
  test.each([
    // https://hardhat.org/hardhat-network/docs/reference#accounts, https://getfoundry.sh/anvil/overview
    [junk, 'evm', 0, '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'],
    [junk, 'evm', 1, '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'],
    [junk, 'evm', 9, '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'],
    // The phrase that most BIP-39 documentation uses.
    [about, 'evm', 0, '0x9858EfFD232B4033E47d90003D41EC34EcaEda94'],
    [about, 'solana', 0, 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk'],
  ] as const)('derive from “%s” (%s %i) as %s', async (phrase, chainType, index, address) => {
    expect(await deriveAccount(phrase, chainType, index)).toBe(address)
  })

  test('match another library at high indexes', async () => {
    const otherNode = HDNodeWallet.fromPhrase(junk, '', buildPath('evm', 12_345))
    expect(await deriveAccount(junk, 'evm', 12_345)).toBe(otherNode.address)
  })

  test('have paths that contain their index', () => {
    expect(buildPath('evm', 7)).toBe(`m/44'/60'/0'/0/7`)
    expect(buildPath('solana', 7)).toBe(`m/44'/501'/7'/0'`)
    for (const chainType of ['evm', 'solana'] as const) expect(parseIndex(chainType, buildPath(chainType, 7))).toBe(7)
  })
})

/** https://github.com/bitcoin/bips/blob/master/bip-0032.mediawiki#test-vectors */
describe('BIP-32', () => {
  const first = '000102030405060708090a0b0c0d0e0f'
  const second =
    'fffcf9f6f3f0edeae7e4e1dedbd8d5d2cfccc9c6c3c0bdbab7b4b1aeaba8a5a29f9c999693908d8a8784817e7b7875726f6c696663605d5a5754514e4b484542'
  const third =
    '4b381541583be4423346c643850da4b320e46a87ae3d2a4e6da11eba819cd4acba45d239319ac14f863b8d5ab5a0d0c64d2e8a1e7d1457df2e5a3c51c73235be'
  const fourth = '3ddd5602285899a946114506157c7997e5444528f3003f6134712147db19b678'
  test.each([
    [
      first,
      {
        m: 'xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi',
        "m/0'":
          'xprv9uHRZZhk6KAJC1avXpDAp4MDc3sQKNxDiPvvkX8Br5ngLNv1TxvUxt4cV1rGL5hj6KCesnDYUhd7oWgT11eZG7XnxHrnYeSvkzY7d2bhkJ7',
        "m/0'/1":
          'xprv9wTYmMFdV23N2TdNG573QoEsfRrWKQgWeibmLntzniatZvR9BmLnvSxqu53Kw1UmYPxLgboyZQaXwTCg8MSY3H2EU4pWcQDnRnrVA1xe8fs',
        "m/0'/1/2'":
          'xprv9z4pot5VBttmtdRTWfWQmoH1taj2axGVzFqSb8C9xaxKymcFzXBDptWmT7FwuEzG3ryjH4ktypQSAewRiNMjANTtpgP4mLTj34bhnZX7UiM',
        "m/0'/1/2'/2":
          'xprvA2JDeKCSNNZky6uBCviVfJSKyQ1mDYahRjijr5idH2WwLsEd4Hsb2Tyh8RfQMuPh7f7RtyzTtdrbdqqsunu5Mm3wDvUAKRHSC34sJ7in334',
        "m/0'/1/2'/2/1000000000":
          'xprvA41z7zogVVwxVSgdKUHDy1SKmdb533PjDz7J6N6mV6uS3ze1ai8FHa8kmHScGpWmj4WggLyQjgPie1rFSruoUihUZREPSL39UNdE3BBDu76',
      },
    ],
    [
      second,
      {
        m: 'xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpSBHNqPqm55Qn3LqFtT2emdEXVYsCzC2U',
        'm/0':
          'xprv9vHkqa6EV4sPZHYqZznhT2NPtPCjKuDKGY38FBWLvgaDx45zo9WQRUT3dKYnjwih2yJD9mkrocEZXo1ex8G81dwSM1fwqWpWkeS3v86pgKt',
        "m/0/2147483647'":
          'xprv9wSp6B7kry3Vj9m1zSnLvN3xH8RdsPP1Mh7fAaR7aRLcQMKTR2vidYEeEg2mUCTAwCd6vnxVrcjfy2kRgVsFawNzmjuHc2YmYRmagcEPdU9',
        "m/0/2147483647'/1":
          'xprv9zFnWC6h2cLgpmSA46vutJzBcfJ8yaJGg8cX1e5StJh45BBciYTRXSd25UEPVuesF9yog62tGAQtHjXajPPdbRCHuWS6T8XA2ECKADdw4Ef',
        "m/0/2147483647'/1/2147483646'":
          'xprvA1RpRA33e1JQ7ifknakTFpgNXPmW2YvmhqLQYMmrj4xJXXWYpDPS3xz7iAxn8L39njGVyuoseXzU6rcxFLJ8HFsTjSyQbLYnMpCqE2VbFWc',
        "m/0/2147483647'/1/2147483646'/2":
          'xprvA2nrNbFZABcdryreWet9Ea4LvTJcGsqrMzxHx98MMrotbir7yrKCEXw7nadnHM8Dq38EGfSh6dqA9QWTyefMLEcBYJUuekgW4BYPJcr9E7j',
      },
    ],
    [
      third,
      {
        m: 'xprv9s21ZrQH143K25QhxbucbDDuQ4naNntJRi4KUfWT7xo4EKsHt2QJDu7KXp1A3u7Bi1j8ph3EGsZ9Xvz9dGuVrtHHs7pXeTzjuxBrCmmhgC6',
        "m/0'":
          'xprv9uPDJpEQgRQfDcW7BkF7eTya6RPxXeJCqCJGHuCJ4GiRVLzkTXBAJMu2qaMWPrS7AANYqdq6vcBcBUdJCVVFceUvJFjaPdGZ2y9WACViL4L',
      },
    ],
    [
      fourth,
      {
        m: 'xprv9s21ZrQH143K48vGoLGRPxgo2JNkJ3J3fqkirQC2zVdk5Dgd5w14S7fRDyHH4dWNHUgkvsvNDCkvAwcSHNAQwhwgNMgZhLtQC63zxwhQmRv',
        "m/0'":
          'xprv9vB7xEWwNp9kh1wQRfCCQMnZUEG21LpbR9NPCNN1dwhiZkjjeGRnaALmPXCX7SgjFTiCTT6bXes17boXtjq3xLpcDjzEuGLQBM5ohqkao9G',
        "m/0'/1'":
          'xprv9xJocDuwtYCMNAo3Zw76WENQeAS6WGXQ55RCy7tDJ8oALr4FWkuVoHJeHVAcAqiZLE7Je3vZJHxspZdFHfnBEjHqU5hG1Jaj32dVoS6XLT1',
      },
    ],
  ])('derives the keys of %s', async (seed, extended) => {
    for (const [path, text] of Object.entries(extended)) {
      expect([path, Buffer.from(await deriveBip32Key(Buffer.from(seed, 'hex'), path))]).toEqual([path, keyIn(text)])
    }
  })
})

/**
 * Returns the key in an extended private key: 4 bytes version, 1 depth, 4 parent, 4 index, 32 chain code, one zero
 * byte, 32 key.
 */
function keyIn(extended: string): Buffer {
  return Buffer.from(createBase58check(sha256).decode(extended)).subarray(46)
}

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
    [second, `m/0'/2147483647'/1'`, '3757c7577170179c7868353ada796c839135b3d30554bbb74a4b1e4a5a58505c'],
    [second, `m/0'/2147483647'/1'/2147483646'`, '5837736c89570de861ebc173b1086da4f505d4adb387c6a1b1342d5e4ac9ec72'],
    [second, `m/0'/2147483647'/1'/2147483646'/2'`, '551d333177df541ad876a60ea71f00447931c0a9da16f227c11ea080d7391b8d'],
  ])('derives %s at %s', (seed, path, key) => {
    expect(Buffer.from(deriveSlip10Key(Buffer.from(seed, 'hex'), path)).toString('hex')).toBe(key)
  })
})
