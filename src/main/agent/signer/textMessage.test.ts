import { base58 } from '@scure/base'
import {
  AccountRole,
  address,
  appendTransactionMessageInstruction,
  blockhash,
  compileTransactionMessage,
  createTransactionMessage,
  getCompiledTransactionMessageEncoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'
import { verifyMessage as ethersVerify } from 'ethers'
import nacl from 'tweetnacl'
import { verifyMessage } from 'viem'
import { expect, test } from 'vitest'
import type { IntentInput } from '#shared/contract/intents.ts'
import { createTestSigner, refusal } from '#test/support/fixtures/testSigner.ts'
import { isSolanaMessage } from './solanaMessage.ts'

const tested = createTestSigner()
const { keys } = tested
const message = (text: string, over: object = {}): IntentInput => ({ kind: 'message', text, ...over })

test('EVM signs text as EIP-191', async () => {
  const text = 'I own this.\n\tGrüße, 🦉'
  const { signature, address: signer } = await tested.signed(message(text))
  expect(ethersVerify(text, signature)).toBe(keys.evm.address)
  const [by, signatureHex] = [signer as `0x${string}`, signature as `0x${string}`]
  expect(await verifyMessage({ address: by, message: text, signature: signatureHex })).toBe(true)
})

test('Solana signs the exact bytes', async () => {
  const text = 'I own this.'
  const { signature } = await tested.signed(message(text, { chain_type: 'solana' }))
  const bytes = new TextEncoder().encode(text)
  expect(nacl.sign.detached.verify(bytes, base58.decode(signature), base58.decode(keys.solana.address))).toBe(true)
})

/**
 * Printable characters that decode as a transaction: 34 signers, 33 of them and 33 other accounts read-only, 67 keys, a
 * block hash and 32 instructions.
 */
const printableTransaction = `"!!C${'k'.repeat(67 * 32)}${'h'.repeat(32)} ${'p\taaaaaaaaa\tddddddddd'.repeat(32)}`

test.each([
  [
    'a message of Sign-In With Ethereum',
    'example.com wants you to sign in with your Ethereum account:\n0x0',
    /sign-in message/,
  ],
  ['one of Solana', 'https://example.com wants you to sign in with your Solana account:\nabc', /sign-in message/],
  ['a disguised one', 'Hello,\nexample.com WANTS you to\tsign in with your Ethereum account:', /sign-in message/],
  ['typed data that is encoded', `0x1901${'ab'.repeat(64)}`, /^text begins with 0x1901/],
  ['typed data as JSON', '{"types":{},"primaryType":"Permit","domain":{},"message":{}}', /^text is typed data/],
  [
    'the text of a registration',
    '{"automatonId":"a","nonce":"b","payloadHash":"0x00"}',
    /^text registers an automaton/,
  ],
  ['a transaction of Solana in letters', printableTransaction, /^text has the form of a Solana transaction/],
  ['an escape', 'a\u001b[31mb', /^text contains the control character U\+001B/],
  ['a carriage return', 'a\rb', /^text contains the control character U\+000D/],
  ['the mark of EIP-191', '\u0019Ethereum Signed Message:\n1a', /U\+0019/],
  ['text that turns around', 'pay \u202e100', /^text contains U\+202E/],
  ['half a character', '\udc00', /^text contains U\+DC00/],
])('refuses %s, on both chains', async (_, text, reason) => {
  await expect(tested.prepare(message(text))).rejects.toEqual(refusal(reason))
  await expect(tested.prepare(message(text, { chain_type: 'solana' }))).rejects.toEqual(refusal(reason))
})

test('warns of a hash and of invisible characters', async () => {
  const warnings = async (text: string) =>
    (await tested.prepare(message(text))).fields.filter(({ kind }) => kind === 'warning').map(({ value }) => value)
  expect(await warnings(`0x${'ab'.repeat(32)}`)).toEqual(['A hash does not show what you agree to.'])
  expect(await warnings('a\u200bb')).toEqual(['The text contains U+200B.'])
  expect(await warnings('👩‍🚀 is fine')).toEqual([])
})

test.each(['legacy', 0] as const)('recognizes a Solana transaction message of version %s', (version) => {
  const bytes = transactionMessage(version)
  expect(isSolanaMessage(bytes)).toBe(true)
  expect(isSolanaMessage(bytes.subarray(0, -1))).toBe(false)
  expect(isSolanaMessage(Uint8Array.from([...bytes, 0]))).toBe(false)
})

test.each(['', 'Hello', 'a'.repeat(4000), '{"a":1}'])('plain text is not a transaction message: %.10s', (text) => {
  expect(isSolanaMessage(new TextEncoder().encode(text))).toBe(false)
})

function transactionMessage(version: 'legacy' | 0): Uint8Array {
  const payer = address(keys.solana.address)
  const message = pipe(
    createTransactionMessage({ version }),
    (it) => setTransactionMessageFeePayer(payer, it),
    (item) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: blockhash(base58.encode(new Uint8Array(32).fill(7))), lastValidBlockHeight: 1n },
        item,
      ),
    (item) =>
      appendTransactionMessageInstruction(
        {
          programAddress: address('11111111111111111111111111111111'),
          accounts: [
            { address: payer, role: AccountRole.WRITABLE_SIGNER },
            { address: address(keys.otherSolana.address), role: AccountRole.WRITABLE },
          ],
          data: new Uint8Array([2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
        },
        item,
      ),
  )
  return Uint8Array.from(getCompiledTransactionMessageEncoder().encode(compileTransactionMessage(message)))
}
