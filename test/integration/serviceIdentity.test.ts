import { randomUUID } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1'
import { base58 } from '@scure/base'
import { Wallet } from 'ethers'
import nacl from 'tweetnacl'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { registerTypedData } from '#shared/contract/automatons.ts'
import { until } from '../support/assertions/eventually.ts'
import {
  createProfile,
  payloadHash,
  type RegistrationBody,
  signRegistration,
  solanaText,
} from '../support/clients/signRegistration.ts'
import { evmWallet, newNonce, siweMessage } from '../support/clients/wallets.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { type Answer, exchange, runningService, type TestService } from '../support/processes/runningService.ts'

/** Registration of automatons as seen by any client of the service. */
let service: TestService
let nowMs = Date.now()

beforeAll(async () => {
  service = await runningService({ host: 'none', now: () => nowMs })
})
afterAll(() => service?.close())

const newAccount = () => privateKeyToAccount(generatePrivateKey())
const register = (body: unknown): Promise<Answer> =>
  exchange(service.url, '/v1/automatons/register', { method: 'POST', key: null, body })
const read = (id: string) => exchange(service.url, `/v1/automatons/${id}`, { key: null })

const vector: RegistrationBody = {
  automaton_id: 'a1b2c3d4-0000-4000-8000-000000000000',
  automaton_address: '0x5d38E6C1923492247511a01b49e34A26cacD6811',
  creator_address: '0x2222222222222222222222222222222222222222',
  name: 'N ü "q"',
  bio: '',
  genesis_prompt_hash: '0x57fa6589480c85be8bbc98526b1113f0b44823894c29f47f6800a84eb5354e50',
  nonce: '7148b9d6-cc75-4df9-8f61-ea746ce0c48e',
  payload_hash: '0xdb429c8c96c2f3f9f7e476ebaf36651ffee3d91814d1f4350b9e7cf67fe0032d',
  signature:
    '0x951f17c71f2ba925cca3e6080cd7c4f122e5297faa3a8d12eb685410edc753f810531e55d954ecc4742f3f606f458b8a200cef1957811bf809c7d29279e4bbf41b',
}

test('registers the test vector of the interface and returns the same record each time', async () => {
  const first = await register(vector)
  expect(first.status, first.text).toBe(200)
  const { nonce: _, payload_hash: __, signature: ___, ...profile } = vector
  expect(first.json).toEqual({
    automaton: { ...profile, chain_type: 'evm', status: 'registered', created_at: new Date(nowMs).toISOString() },
  })
  const again = await register(vector)
  expect(again.status).toBe(200)
  expect(again.text).toBe(first.text)
  expect((await read(vector.automaton_id)).json).toEqual(first.json)
})

describe('signatures', () => {
  test('from ethers are accepted', async () => {
    const wallet = Wallet.createRandom()
    const profile = createProfile(wallet.address)
    const nonce = 'any-text-at-all'
    const { version, chainId, types } = registerTypedData
    const payload_hash = payloadHash(profile)
    const signature = await wallet.signTypedData(
      { name: 'AIWS Automaton', version, chainId },
      { Register: [...types.Register] },
      { automatonId: profile.automaton_id, nonce, payloadHash: payload_hash },
    )
    const answer = await register({ ...profile, nonce, payload_hash, signature })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.json.automaton).toMatchObject({ ...profile, genesis_prompt_hash: null })
  })

  test('from Solana are accepted as base58 with a creator address of any kind', async () => {
    const pair = nacl.sign.keyPair()
    const profile = createProfile(base58.encode(pair.publicKey), { creator_address: newAccount().address })
    const nonce = randomUUID()
    const signature = nacl.sign.detached(solanaText({ profile, nonce }), pair.secretKey)
    const body = { ...profile, nonce, payload_hash: payloadHash(profile), chain_type: 'solana' }
    const answer = await register({ ...body, signature: base58.encode(signature) })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.json.automaton).toMatchObject({ ...profile, chain_type: 'solana' })
  })

  test('from Solana with another key, another format or a weak key are rejected', async () => {
    const [pair, otherPair] = [nacl.sign.keyPair(), nacl.sign.keyPair()]
    const profile = createProfile(base58.encode(pair.publicKey))
    const nonce = randomUUID()
    const text = solanaText({ profile, nonce })
    const good = nacl.sign.detached(text, pair.secretKey)
    const ofOther = nacl.sign.detached(text, otherPair.secretKey)
    const body = { ...profile, nonce, payload_hash: payloadHash(profile), chain_type: 'solana' }
    const hexadecimal = `0x${Buffer.from(good).toString('hex')}`
    for (const signature of [base58.encode(ofOther), hexadecimal, base58.encode(good.slice(1)), 'no base58 0OIl']) {
      expectRefusal(await register({ ...body, signature }), 401, 'identity/signature')
    }

    // With the neutral element as the key, libraries that are not strict accept a signature for any message.
    const weakKey = Uint8Array.from({ length: 32 }, (_, index) => (index === 0 ? 1 : 0))
    const weak = createProfile(base58.encode(weakKey))
    const weakSignature = base58.encode(Uint8Array.from({ length: 64 }, (_, index) => (index === 0 ? 1 : 0)))
    const weakBody = { ...weak, nonce, payload_hash: payloadHash(weak), chain_type: 'solana' }
    expectRefusal(await register({ ...weakBody, signature: weakSignature }), 401, 'identity/signature')
  })

  test('from EVM in another format or with another key are rejected', async () => {
    const account = newAccount()
    const body = await signRegistration(account, createProfile(account.address))
    const { signature } = body
    const s = BigInt(`0x${signature.slice(66, 130)}`)
    const highS = (secp256k1.CURVE.n - s).toString(16).padStart(64, '0')
    const otherV = signature.endsWith('1b') ? '1c' : '1b'
    const { signature: ofOther } = await signRegistration(newAccount(), body, { nonce: body.nonce })
    const { signature: ofOtherDomain } = await signRegistration(account, body, {
      nonce: body.nonce,
      domainName: 'Another Automaton',
    })
    const wrong = [
      ofOther,
      ofOtherDomain,
      `${signature.slice(0, 66)}${highS}${otherV}`,
      `${signature.slice(0, -2)}${otherV}`,
      signature.slice(0, -2),
      `${signature}00`,
      `0x${'0'.repeat(130)}`,
      `0x${'f'.repeat(128)}1b`,
      'signed',
    ]
    for (const each of wrong) {
      expectRefusal(await register({ ...body, signature: each }), 401, 'identity/signature')
    }
    expectRefusal(await register({ ...body, nonce: randomUUID() }), 401, 'identity/signature')
    expect((await read(body.automaton_id)).status).toBe(404)
    expect((await register(body)).status).toBe(200)
  })
})

function expectRefusal(answer: Answer, status: number, code: string, error?: string): void {
  expect(answer.json, answer.text).toMatchObject({ code, ...(error !== undefined && { error }) })
  expect(answer.status).toBe(status)
}

describe('the hashed payload', () => {
  test.each([
    ['letters of many scripts', 'Übermaß 数 ٣ ß'],
    ['emoji', '🤖👩‍👩‍👧‍👦'],
    ['control characters', 'a\u0000b\u0007\n\t\u001b[31m'],
    ['marks of direction', '\u202egnp.exe\u2066'],
    ['what JSON escapes', '"\\/\u2028</script>'],
    ['names of JavaScript', '__proto__'],
    ['nothing but a space', ' '],
  ])('%s are stored unchanged', async (_, name) => {
    const account = newAccount()
    const body = await signRegistration(account, createProfile(account.address, { name, bio: name.repeat(3) }))
    const answer = await register(body)
    expect(answer.status, answer.text).toBe(200)
    expect((await read(body.automaton_id)).json.automaton).toMatchObject({ name, bio: name.repeat(3) })
    expect((await register(body)).text).toBe(answer.text)
  })

  test('preserves the case of addresses and ignores other fields of the body', async () => {
    const account = newAccount()
    const profile = createProfile(account.address.toLowerCase(), {
      creator_address: account.address.toUpperCase().replace('X', 'x'),
    })
    const body = await signRegistration(account, profile)
    const text = JSON.stringify(body).replace('{', '{"__proto__":{"name":"other"},"constructor":1,"later":"x",')
    const answer = await exchange(service.url, '/v1/automatons/register', { method: 'POST', key: null, body: text })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.json.automaton).toMatchObject(profile)
  })

  test('must match payload_hash', async () => {
    const account = newAccount()
    const body = await signRegistration(account, createProfile(account.address))
    for (const changed of [{ name: 'Eve' }, { bio: '' }, { genesis_prompt_hash: `0x${'0'.repeat(64)}` }]) {
      expectRefusal(await register({ ...body, ...changed }), 400, 'identity/hash', 'payload_hash does not match')
    }
    const lower = { ...body, creator_address: body.creator_address.toLowerCase() }
    expectRefusal(await register(lower), 400, 'identity/hash')
    const wrongBoth = { ...body, name: 'Eve', signature: '0x' }
    expectRefusal(await register(wrongBoth), 400, 'identity/hash')
  })
})

describe('a field', () => {
  const account = newAccount()
  const { genesis_prompt_hash: _, ...body } = vector
  const address = 'must be 0x and 40 hexadecimal digits, or a Solana address'
  test.each<[string, unknown, string]>([
    ['automaton_id', undefined, 'is required'],
    ['automaton_id', 'a1b2', 'must be a UUID, with or without dashes'],
    ['automaton_id', 'a1b2c3d40000-4000-8000-000000000000', 'must be a UUID, with or without dashes'],
    ['automaton_address', '0x5d38', address],
    ['automaton_address', `${account.address}00`, address],
    ['creator_address', 7, 'must be a string'],
    ['name', '', 'must not be empty'],
    ['name', 'n'.repeat(129), 'must have at most 128 characters'],
    ['name', '\ud800', 'must be well-formed Unicode'],
    ['bio', undefined, 'is required'],
    ['bio', 'b'.repeat(4097), 'must have at most 4096 characters'],
    ['genesis_prompt_hash', '0x12', 'must be 0x and 64 hexadecimal digits'],
    ['genesis_prompt_hash', null, 'must be a string'],
    ['nonce', '', 'must not be empty'],
    ['nonce', 'n'.repeat(129), 'must have at most 128 characters'],
    ['payload_hash', 'db429c8c', 'must be 0x and 64 hexadecimal digits'],
    ['signature', undefined, 'is required'],
    ['chain_type', 'bitcoin', 'must be evm or solana'],
  ])('%s as %j is refused', async (field, value, demand) => {
    expectRefusal(await register({ ...body, [field]: value }), 400, 'request/invalid', `\`${field}\` ${demand}.`)
  })

  test('automaton_address must belong to the chain', async () => {
    const error = '`automaton_address` must be a Solana address if `chain_type` is solana.'
    expectRefusal(await register({ ...vector, chain_type: 'solana' }), 400, 'request/invalid', error)
    const solana = base58.encode(nacl.sign.keyPair().publicKey)
    const answer = await register({ ...vector, automaton_address: solana })
    expect(answer.json.error).toBe('`automaton_address` must be 0x and 40 hexadecimal digits if `chain_type` is evm.')
  })

  test('longer than 64 KiB is not read', async () => {
    const answer = await register({ ...vector, later: 'x'.repeat(64 * 1024) })
    expectRefusal(answer, 413, 'request/too-large')
  })
})

describe('a registration', () => {
  test('ignores dashes in the id and the case of EVM addresses and hashes', async () => {
    const account = newAccount()
    const profile = createProfile(account.address, { genesis_prompt_hash: `0x${'ab'.repeat(32)}` })
    const first = await register(await signRegistration(account, profile))
    expect(first.status, first.text).toBe(200)
    const bare = profile.automaton_id.replaceAll('-', '').toUpperCase()
    const otherRegistration = {
      ...profile,
      automaton_id: bare,
      automaton_address: profile.automaton_address.toLowerCase(),
      creator_address: profile.creator_address.toLowerCase(),
      genesis_prompt_hash: `0x${'AB'.repeat(32)}`,
    }
    const again = await register(await signRegistration(account, otherRegistration))
    expect(again.text).toBe(first.text)
    expect((await read(bare)).text).toBe(first.text)
  })

  test('is immutable and the error names the first different field', async () => {
    const account = newAccount()
    const stranger = newAccount()
    const profile = createProfile(account.address, { genesis_prompt_hash: `0x${'1'.repeat(64)}` })
    const first = await register(await signRegistration(account, profile))
    const { genesis_prompt_hash: _, ...withoutHash } = profile
    const expectImmutable = async (field: string, changed: typeof profile, by = account) => {
      const answer = await register(await signRegistration(by, changed))
      expectRefusal(answer, 409, 'identity/immutable', `Profile ${field} is immutable after registration`)
    }
    await expectImmutable('name', { ...profile, name: 'Ada ' })
    await expectImmutable('bio', { ...profile, bio: '' })
    await expectImmutable('creator_address', { ...profile, creator_address: stranger.address, name: 'Eve' })
    await expectImmutable('genesis_prompt_hash', { ...profile, genesis_prompt_hash: `0x${'2'.repeat(64)}` })
    await expectImmutable('genesis_prompt_hash', withoutHash)
    await expectImmutable('automaton_address', { ...profile, automaton_address: stranger.address }, stranger)
    expect((await read(profile.automaton_id)).text).toBe(first.text)
  })

  test('is returned by its id only and is 404 if unknown', async () => {
    const id = randomUUID()
    expectRefusal(await read(id), 404, 'identity/not-found', `No automaton ${id} is registered.`)
    expectRefusal(await read('7'), 404, 'identity/not-found', 'No automaton 7 is registered.')
  })

  test('survives a restart', async () => {
    const account = newAccount()
    const body = await signRegistration(account, createProfile(account.address))
    const first = await register(body)
    await service.restart()
    expect((await register(body)).text).toBe(first.text)
  })
})

describe('a nonce', () => {
  test('can be used for one registration', async () => {
    const account = newAccount()
    const nonce = 'only-once'
    const first = await signRegistration(account, createProfile(account.address), { nonce })
    expect((await register(first)).status).toBe(200)
    const second = await signRegistration(account, createProfile(account.address), { nonce })
    expectRefusal(await register(second), 409, 'identity/nonce-used', 'The nonce was already used.')
    expect((await read(second.automaton_id)).status).toBe(404)
    const renewed = await signRegistration(account, first, { nonce: randomUUID() })
    expect((await register(renewed)).status).toBe(200)
  })

  test('is not consumed by a rejected registration', async () => {
    const account = newAccount()
    const body = await signRegistration(account, createProfile(account.address))
    expect((await register({ ...body, name: 'Eve' })).status).toBe(400)
    expect((await register({ ...body, signature: vector.signature })).status).toBe(401)
    expect((await register(body)).status).toBe(200)
  })
})

describe('concurrent registrations', () => {
  test('fifty identical registrations create one record and all return it', async () => {
    const account = newAccount()
    const body = await signRegistration(account, createProfile(account.address))
    const answers = await Promise.all(Array.from({ length: 50 }, () => register(body)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  test('only one of several profiles with the same id succeeds', async () => {
    const account = newAccount()
    const automaton_id = randomUUID()
    const bodies = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        signRegistration(account, createProfile(account.address, { automaton_id, name: `Ada ${index}` })),
      ),
    )
    const answers = await Promise.all(bodies.map(register))
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    for (const loser of answers.filter((it) => !won.includes(it))) {
      expectRefusal(loser, 409, 'identity/immutable', 'Profile name is immutable after registration')
    }
    expect((await read(automaton_id)).text).toBe(won[0]?.text)
  })

  test('only one of several automatons with the same nonce succeeds', async () => {
    const account = newAccount()
    const nonce = randomUUID()
    const bodies = await Promise.all(
      Array.from({ length: 20 }, () => signRegistration(account, createProfile(account.address), { nonce })),
    )
    const answers = await Promise.all(bodies.map(register))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ json }) => json.code === 'identity/nonce-used')).toHaveLength(19)
  })
})

describe('a creator', () => {
  const creator = evmWallet()
  const otherAccount = newAccount()
  let creatorKey: string
  let otherKey: string

  beforeAll(async () => {
    creatorKey = (await creator.signIn(service.url)).json.access_token
    otherKey = secondAccount(service.dataDir, { managesAccount: true }).key
    const message = siweMessage(service.url, { address: otherAccount.address, nonce: await newNonce(service.url) })
    const body = { message, signature: await otherAccount.signMessage({ message }) }
    expect((await service.send('/v1/auth/wallets', { key: otherKey, body })).status).toBe(201)
  })

  const bind = (key: string, body: object = {}) => service.send('/v1/automatons/nonce', { method: 'POST', key, body })
  const ofCreator = (fields: object = {}) => {
    const account = newAccount()
    return { account, profile: createProfile(account.address, { creator_address: creator.address, ...fields }) }
  }

  test('obtains a nonce bound to its address with a sign-in or an API key', async () => {
    const bound = await bind(creatorKey)
    expect(bound.status, bound.text).toBe(200)
    expect(bound.json).toEqual({
      nonce: expect.any(String),
      expires_at: new Date(nowMs + 60 * 60_000).toISOString(),
      creator_address: creator.address,
    })
    expect((await bind(otherKey)).json.creator_address).toBe(otherAccount.address)
    const { nonce } = bound.json
    const stolen = newAccount()
    const foreign = await signRegistration(stolen, createProfile(stolen.address), { nonce })
    expectRefusal(await register(foreign), 403, 'identity/nonce-bound', 'The nonce is bound to another creator.')

    const { account, profile } = ofCreator({ creator_address: creator.address.toLowerCase() })
    const registration = await signRegistration(account, profile, { nonce })
    expect((await register(registration)).status).toBe(200)
    expect((await register(registration)).status).toBe(200)
    const { account: next, profile: nextProfile } = ofCreator()
    const used = await signRegistration(next, nextProfile, { nonce })
    expectRefusal(await register(used), 409, 'identity/nonce-used')
    expectRefusal(await register(foreign), 403, 'identity/nonce-bound')
  })

  test('can bind it to one automaton', async () => {
    const { account, profile } = ofCreator()
    const { nonce } = (await bind(creatorKey, { automaton_id: profile.automaton_id.replaceAll('-', '') })).json
    const another = await signRegistration(account, { ...profile, automaton_id: randomUUID() }, { nonce })
    expectRefusal(await register(another), 403, 'identity/nonce-bound', 'The nonce is bound to another automaton.')
    expect((await register(await signRegistration(account, profile, { nonce }))).status).toBe(200)
    expectRefusal(await bind(creatorKey, { automaton_id: 'x' }), 400, 'request/invalid')
  })

  test('receives the same nonce for the same Idempotency-Key', async () => {
    const ask = () =>
      service.send('/v1/automatons/nonce', { key: creatorKey, body: {}, headers: { 'idempotency-key': 'nonce-1' } })
    const first = await ask()
    expect(first.status).toBe(200)
    expect((await ask()).json).toEqual(first.json)
  })

  test('can have a hundred open nonces and the oldest expires first', async () => {
    const { account, profile } = ofCreator()
    const first = await signRegistration(account, profile, { nonce: (await bind(creatorKey)).json.nonce })
    nowMs += 1
    for (let count = 0; count < 100; count += 1) await bind(creatorKey)
    expectRefusal(await register(first), 409, 'identity/nonce-used', 'The nonce has expired.')
  })

  test('permanently loses a nonce after an hour', async () => {
    const { nonce } = (await bind(creatorKey)).json
    const { account, profile } = ofCreator()
    const body = await signRegistration(account, profile, { nonce })
    nowMs += 60 * 60_000
    expectRefusal(await register(body), 409, 'identity/nonce-used', 'The nonce has expired.')
    expect((await bind(otherKey)).status).toBe(200)
    expectRefusal(await register(body), 409, 'identity/nonce-used', 'The nonce has expired.')
  })

  test('needs a credential and a wallet', async () => {
    expectRefusal(await service.send('/v1/automatons/nonce', { method: 'POST', key: null }), 401, 'auth/required')
    expectRefusal(await service.send('/v1/automatons', { key: null }), 401, 'auth/required')
    expectRefusal(await bind(secondAccount(service.dataDir).key), 403, 'auth/wallet-needed')
  })

  test('receives events only for registrations that it authorized and lists all others last', async () => {
    const heard: string[] = []
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/events`, {
      headers: { authorization: `Bearer ${otherKey}` },
    })
    socket.on('message', (data) => heard.push(JSON.parse(String(data)).type))
    try {
      await until('it listens', () => heard.includes('ready'))
      const [first, two, stranger] = [newAccount(), newAccount(), newAccount()]
      const byOther = { creator_address: otherAccount.address }
      const { nonce } = (await bind(otherKey)).json
      const named = await signRegistration(first, createProfile(first.address, byOther), { nonce })
      await register(named)
      nowMs += 1
      const unasked = await signRegistration(stranger, createProfile(stranger.address, byOther))
      expect((await register(unasked)).status).toBe(200)
      nowMs += 1
      const itself = createProfile(otherAccount.address, { creator_address: two.address })
      await register(await signRegistration(otherAccount, itself))
      await until('both were told', () => heard.filter((it) => it === 'automatons.changed').length >= 2)

      const { json } = await service.send('/v1/automatons', { key: otherKey })
      const ids = json.automatons.map((it: { automaton_id: string }) => it.automaton_id)
      expect(ids).toEqual([itself.automaton_id, named.automaton_id, unasked.automaton_id])
      expect(json).toMatchObject({ count: 3, data: json.automatons })
      const activity = await service.send('/v1/activity', { key: otherKey })
      expect(activity.text).toContain(named.automaton_id)
      expect(activity.text).not.toContain(unasked.automaton_id)
      expect(heard.filter((it) => it === 'automatons.changed')).toHaveLength(2)
      const response = await service.send('/v1/automatons', { key: secondAccount(service.dataDir).key })
      expect(response.json).toEqual({ automatons: [], data: [], count: 0 })
    } finally {
      socket.close()
    }
  })
})

test('a service can be configured with another domain name', async () => {
  const renamedService = await runningService({ host: 'none', identityDomainName: 'My Automatons' })
  try {
    const account = newAccount()
    const send = (body: unknown) =>
      exchange(renamedService.url, '/v1/automatons/register', { method: 'POST', key: null, body })
    const profile = createProfile(account.address)
    expect((await send(await signRegistration(account, profile))).status).toBe(401)
    expect((await send(await signRegistration(account, profile, { domainName: 'My Automatons' }))).status).toBe(200)
  } finally {
    await renamedService.close()
  }
})
