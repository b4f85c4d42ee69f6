import { expect, test } from 'vitest'
import { KeyringId, type WalletAccount, WalletAccountId } from '#shared/contract/wallet.ts'
import { readDraft } from './draftFile.ts'

const account = (digit: string, chain_type: WalletAccount['chain_type'], address: string): WalletAccount => ({
  id: WalletAccountId.parse(`wal_${digit.repeat(24)}`),
  keyring_id: KeyringId.parse(`keys_${'0'.repeat(24)}`),
  chain_type,
  address,
  derivation_path: null,
  label: digit,
  created_at: '2026-01-01T00:00:00.000Z',
})
const evm = account('1', 'evm', '0x5d38E6C1923492247511a01b49e34A26cacD6811')
const solana = account('2', 'solana', '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T')
const read = (content: unknown) =>
  readDraft(typeof content === 'string' ? content : JSON.stringify(content), [evm, solana])

const whole = {
  automaton_id: 'a1b2c3d4-0000-4000-8000-000000000000',
  automaton_address: evm.address.toLowerCase(),
  creator_address: `0x${'2'.repeat(40)}`,
  name: 'Ada',
  bio: 'Counts.',
  genesis_prompt_hash: '0x57fa6589480c85be8bbc98526b1113f0b44823894c29f47f6800a84eb5354e50',
}

test('fills in fields of the file and leaves the others unchanged', async () => {
  expect(await read(whole)).toEqual({
    values: {
      accountId: evm.id,
      automatonId: whole.automaton_id,
      creator: whole.creator_address,
      name: 'Ada',
      bio: 'Counts.',
      promptHash: whole.genesis_prompt_hash,
    },
  })
  expect(await read({ name: 'Eve', chain_type: 'solana' })).toEqual({ values: { name: 'Eve', accountId: solana.id } })
  expect(await read('{}')).toEqual({ values: {} })
})

test('hashes a prompt in the file with keccak256', async () => {
  const hash = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470' // keccak256 of the empty string
  expect(await read({ genesis_prompt: '' })).toEqual({ values: { promptHash: hash } })
  expect(await read({ genesis_prompt: 'x', genesis_prompt_hash: hash })).toEqual({
    problems: ['The prompt hash does not match the prompt.'],
  })
})

test.each<[string, unknown, string[]]>([
  ['no JSON', '{"name":', ['The file is not a JSON object.']],
  ['a list', '[]', ['The file is not a JSON object.']],
  [
    'unknown keys',
    { nmae: 'Ada', ...whole, signature: '0x', __proto__: {} },
    ['Unknown field “nmae”.', 'Unknown field “signature”.'],
  ],
  ['its prototype', '{"__proto__":{"name":"x"}}', ['Unknown field “__proto__”.']],
  [
    'wrong types',
    { name: 7, bio: null, automaton_id: 'x' },
    ['`automaton_id` must be a UUID, with or without dashes.', '`name` must be a string.', '`bio` must be a string.'],
  ],
  [
    'an address of somebody else',
    { automaton_address: `0x${'3'.repeat(40)}` },
    [`The address 0x${'3'.repeat(40)} is not in your wallet, so it cannot sign.`],
  ],
  [
    'an address of another chain',
    { automaton_address: evm.address, chain_type: 'solana' },
    ['The chain type is solana, but the chain of this address is evm.'],
  ],
])('reports problems of an invalid file: %s', async (_, content, problems) => {
  expect(await read(content)).toEqual({ problems })
})
