import { base58 } from '@scure/base'
import nacl from 'tweetnacl'
import { expect, test } from 'vitest'
import { deriveAddress } from './addresses.ts'
import { parsePrivateKey } from './privateKeyText.ts'

const evmKey = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const pair = nacl.sign.keyPair.fromSeed(Uint8Array.from({ length: 32 }, (_, index) => index + 1))
const seed = pair.secretKey.slice(0, 32)
const solanaAddress = base58.encode(pair.publicKey)

test.each([evmKey, `0x${evmKey}`, ` 0x${evmKey.toUpperCase()}\n`])('accepts an EVM key as %s', async (text) => {
  const key = await parsePrivateKey(text, 'evm')
  expect(await deriveAddress('evm', key)).toBe('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')
})

test.each([
  ['base58 with its address, as Phantom shows it', base58.encode(pair.secretKey)],
  ['base58 of the seed', base58.encode(seed)],
  ['a list of bytes, as solana-keygen writes it', JSON.stringify([...pair.secretKey])],
  ['a list of the seed', JSON.stringify([...seed])],
  ['hexadecimal digits', Buffer.from(seed).toString('hex')],
])('accepts a Solana key as %s', async (_, text) => {
  expect(await deriveAddress('solana', await parsePrivateKey(text, 'solana'))).toBe(solanaAddress)
})

const wrongHalf = Uint8Array.from([...seed, ...seed])
test.each([
  ['evm', 'planted', 'An EVM private key has 64 hexadecimal digits.'],
  ['evm', evmKey.slice(1), 'An EVM private key has 64 hexadecimal digits.'],
  ['evm', '0'.repeat(64), 'This is not a valid private key.'],
  ['evm', 'f'.repeat(64), 'This is not a valid private key.'],
  ['solana', 'planted 0OIl', 'A Solana private key is base58, 64 hexadecimal digits, or a JSON list of bytes.'],
  ['solana', 'z'.repeat(101), 'A Solana private key is base58, 64 hexadecimal digits, or a JSON list of bytes.'],
  ['solana', base58.encode(seed.slice(1)), 'A Solana private key has 32 or 64 bytes, not 31.'],
  ['solana', '[1,2,3', 'The list must be complete and contain only numbers from 0 to 255.'],
  ['solana', '[1,256]', 'The list must be complete and contain only numbers from 0 to 255.'],
  ['solana', base58.encode(wrongHalf), 'The second half of this key is not the address of the first half.'],
] as const)('rejects an invalid %s key without repeating it: %#', async (chainType, text, message) => {
  const error: unknown = await parsePrivateKey(text, chainType).catch((it: unknown) => it)
  expect(error).toMatchObject({ code: 'wallet/private-key', message })
  expect(error).not.toHaveProperty('cause')
})
