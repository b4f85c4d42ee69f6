import { base58 } from '@scure/base'
import { getBase58Encoder, getPublicKeyFromAddress, address as solanaAddress, verifySignature } from '@solana/kit'
import { verifyTypedData as ethersVerify, id } from 'ethers'
import fc from 'fast-check'
import nacl from 'tweetnacl'
import { hashTypedData, keccak256, recoverAddress, recoverTypedDataAddress, stringToBytes } from 'viem'
import { expect, test } from 'vitest'
import { type AutomatonProfile, canonicalizeProfile } from '#shared/contract/automatons.ts'
import type { IntentInput } from '#shared/contract/intents.ts'
import { createTestSigner, refusal } from '#test/support/fixtures/testSigner.ts'
import { computeTypedDataHash } from './typedData.ts'

const tested = createTestSigner()
const { keys } = tested

const profile = (over: Partial<AutomatonProfile> = {}): AutomatonProfile => ({
  automaton_id: 'a1b2c3d4-0000-4000-8000-000000000000',
  automaton_address: keys.evm.address,
  creator_address: '0x2222222222222222222222222222222222222222',
  name: 'N ü "q"',
  bio: '',
  genesis_prompt_hash: '0x57fa6589480c85be8bbc98526b1113f0b44823894c29f47f6800a84eb5354e50',
  ...over,
})
const register = (over: Partial<AutomatonProfile> = {}, more: object = {}): IntentInput => ({
  kind: 'identity.register',
  profile: profile(over),
  nonce: '7148b9d6-cc75-4df9-8f61-ea746ce0c48e',
  ...more,
})

/** Test vector from the interface specification. */
const vector = {
  address: '0x5d38E6C1923492247511a01b49e34A26cacD6811',
  canonical:
    '{"automaton_address":"0x5d38E6C1923492247511a01b49e34A26cacD6811","automaton_id":"a1b2c3d4-0000-4000-8000-000000000000","bio":"","creator_address":"0x2222222222222222222222222222222222222222","genesis_prompt_hash":"0x57fa6589480c85be8bbc98526b1113f0b44823894c29f47f6800a84eb5354e50","name":"N ü \\"q\\""}',
  payloadHash: '0xdb429c8c96c2f3f9f7e476ebaf36651ffee3d91814d1f4350b9e7cf67fe0032d',
  nonce: '7148b9d6-cc75-4df9-8f61-ea746ce0c48e',
  signature:
    '0x951f17c71f2ba925cca3e6080cd7c4f122e5297faa3a8d12eb685410edc753f810531e55d954ecc4742f3f606f458b8a200cef1957811bf809c7d29279e4bbf41b',
} as const
const domain = { name: 'AIWS Automaton', version: '1', chainId: 8453 } as const
const types = {
  Register: [
    { name: 'automatonId', type: 'string' },
    { name: 'nonce', type: 'string' },
    { name: 'payloadHash', type: 'bytes32' },
  ],
} as const
const vectorData = {
  domain,
  types,
  primaryType: 'Register',
  message: {
    automatonId: 'a1b2c3d4-0000-4000-8000-000000000000',
    nonce: vector.nonce,
    payloadHash: vector.payloadHash,
  },
} as const

test('matches the test vector of canonical JSON, payload hash and signed hash', async () => {
  expect(canonicalizeProfile(profile({ automaton_address: vector.address }))).toBe(vector.canonical)
  expect(keccak256(stringToBytes(vector.canonical))).toBe(vector.payloadHash)
  const hash = await computeTypedDataHash(vectorData)
  expect(hash).toBe(hashTypedData(vectorData))
  expect(await recoverAddress({ hash, signature: vector.signature })).toBe(vector.address)
})

test('signs typed data that viem and ethers recover to the address', async () => {
  const { signature, registration, address } = await tested.signed(register())
  const payloadHash = id(canonicalizeProfile(profile()))
  const message = {
    automatonId: profile().automaton_id,
    nonce: vector.nonce,
    payloadHash: payloadHash as `0x${string}`,
  }

  expect(address).toBe(keys.evm.address)
  expect(registration).toEqual({ ...profile(), nonce: vector.nonce, payload_hash: payloadHash, signature })
  expect(signature).toMatch(/^0x[0-9a-f]{128}(1b|1c)$/)
  const data = { domain, types, primaryType: 'Register', message } as const
  expect(await recoverTypedDataAddress({ ...data, signature: signature as `0x${string}` })).toBe(address)
  expect(ethersVerify(domain, { Register: [...types.Register] }, message, signature)).toBe(address)
})

test('the typed data domain uses the configured name', async () => {
  const { signature } = await createTestSigner('Another Name').signed(register())
  expect(signature).not.toBe((await tested.signed(register())).signature)
})

test('hashes an address in the case it was sent', async () => {
  const lower = { automaton_address: keys.evm.address.toLowerCase() }
  const { registration } = await tested.signed(register(lower))
  expect(registration?.automaton_address).toBe(keys.evm.address.toLowerCase())
  expect(registration?.payload_hash).toBe(id(canonicalizeProfile(profile(lower))))
})

test('signs with the account of the registered address', async () => {
  const { account, intent } = await tested.prepare(register({ automaton_address: keys.otherEvm.address }))
  expect(account.id).toBe(keys.otherEvm.id)
  expect(intent.account_id).toBe(keys.otherEvm.id)
})

test('Solana signs text that names its chain', async () => {
  const intent = register({ automaton_address: keys.solana.address }, { chain_type: 'solana' })
  const { raw } = await tested.prepare(intent)
  const { signature, registration } = await tested.signed(intent)
  expect(raw).toBe(
    JSON.stringify({
      automatonId: profile().automaton_id,
      nonce: vector.nonce,
      payloadHash: registration?.payload_hash,
    }),
  )
  const [bytes, signatureBytes] = [new TextEncoder().encode(raw), base58.decode(signature)]
  expect(nacl.sign.detached.verify(bytes, signatureBytes, base58.decode(keys.solana.address))).toBe(true)
  const publicKey = await getPublicKeyFromAddress(solanaAddress(keys.solana.address))
  const kitSignature = getBase58Encoder().encode(signature) as Parameters<typeof verifySignature>[1] // 64 bytes
  expect(await verifySignature(publicKey, kitSignature, bytes)).toBe(true)
  expect(registration?.chain_type).toBe('solana')
})

test('shows the profile, its hash and the typed data', async () => {
  const { sentence, fields, raw } = await tested.prepare(register({ bio: 'Reads mail.\nWrites poems.' }))
  expect(sentence).toBe('Register the automaton “N ü "q"” with the address 0xf39F…2266 permanently.')
  expect(fields.map(({ label, value }) => [label, value])).toEqual(
    expect.arrayContaining([
      ['Bio', 'Reads mail.\nWrites poems.'],
      ['Address', keys.evm.address],
      ['Creator', '0x2222222222222222222222222222222222222222'],
    ]),
  )
  expect(JSON.parse(raw)).toMatchObject({ domain, primaryType: 'Register', message: { nonce: vector.nonce } })
})

test('rejects an unpaired surrogate in an intent', async () => {
  await expect(tested.prepare(register({ name: 'a\ud800' }))).rejects.toThrow('must be well-formed Unicode')
})

test.each([
  [
    'a foreign address',
    register({ automaton_address: vector.address }),
    /^profile\.automaton_address 0x5d38.* is not 0x/,
  ],
  [
    'an address of the other chain',
    register({ automaton_address: keys.solana.address }),
    /is not 0x.*, the evm account that would sign/,
  ],
  [
    'another account than the one that is named',
    register({}, { account_id: keys.otherEvm.id }),
    /is not 0x70997970C51812dc3A010C7d01b50e0d17dc79C8/i,
  ],
  ['a line in the name', register({ name: 'a\nb' }), /profile\.name contains the control character U\+000A/],
  ['an escape in the bio', register({ bio: '\u001b[2J' }), /profile\.bio contains the control character U\+001B/],
  ['text that turns around', register({ bio: 'a\u202eb' }), /profile\.bio contains U\+202E/],
  ['a nonce with a line', register({}, { nonce: 'a\nb' }), /nonce contains the control character/],
])('refuses %s', async (_, intent, message) => {
  await expect(tested.prepare(intent)).rejects.toEqual(refusal(message))
})

test('warns of an invalid creator checksum and of invisible characters', async () => {
  const { fields } = await tested.prepare(
    register({ creator_address: vector.address.replace('5d38E', '5D38e'), name: 'a\u200bb' }),
  )
  expect(fields.filter(({ kind }) => kind === 'warning').map(({ value }) => value)).toEqual([
    'The name contains U+200B.',
    'The checksum is wrong: compare every character.',
  ])
})

test('canonical JSON sorts keys and preserves every value', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.boolean(),
      (name, bio, hashed) => {
        const { genesis_prompt_hash, ...rest } = profile({ name, bio })
        const profileInput = hashed ? { ...rest, genesis_prompt_hash } : rest
        const text = canonicalizeProfile(profileInput as AutomatonProfile)
        expect(JSON.parse(text)).toEqual(profileInput)
        expect(text).toBe(JSON.stringify(profileInput, Object.keys(profileInput).sort()))
      },
    ),
  )
})
