import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { secp256k1 } from '@noble/curves/secp256k1'
import { base64 } from '@scure/base'
import { SiweMessage as ForkedSiweMessage } from '@signinwithethereum/siwe'
import { createSignInMessageText } from '@solana/wallet-standard-util'
import { type JWTPayload, SignJWT } from 'jose'
import { SiweMessage } from 'siwe'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { evmWallet, newNonce, siweMessage, siwsInput, solanaWallet } from '../support/clients/wallets.ts'
import { type Answer, exchange, runningService, type TestService } from '../support/processes/runningService.ts'

/** Sign-in with wallets over HTTP, with messages built by common libraries. Needs no sandbox. */
let service: TestService
let passedMs = 0
const now = () => Date.now() + passedMs
const minuteMs = 60_000

beforeAll(async () => {
  service = await runningService({ host: 'none', signInDomains: ['conway.tech'], now })
})
afterAll(() => service?.close())

const post = (path: string, body: unknown) => exchange(service.url, path, { body })
const verify = (body: object) => post('/v1/auth/verify', body)
const wallet = evmWallet(now)
const solana = solanaWallet(now)
const tokensOf = { access_token: expect.any(String), refresh_token: expect.stringMatching(/^srt_[\w-]{43}$/) }
const signedIn = { ...tokensOf, token_type: 'Bearer', expires_in: 3600 }

/** Signs a message with the service's current time, and sends it. */
async function attempt(textOf: (nonce: string) => string, sign = wallet.sign): Promise<Answer> {
  const message = textOf(await newNonce(service.url))
  return verify({ message, signature: await sign(message) })
}

const createMessage = (nonce: string, fields: Partial<Parameters<typeof siweMessage>[1]> = {}) =>
  siweMessage(service.url, { address: wallet.address, nonce, issuedAt: new Date(now()), ...fields })
const fields = (nonce: string) => ({
  domain: new URL(service.url).host,
  address: wallet.address,
  statement: 'Sign in.',
  uri: service.url,
  version: '1',
  chainId: 8453,
  nonce,
  issuedAt: new Date(now()).toISOString(),
})

describe('a nonce', () => {
  test('is long, alphanumeric and valid for five minutes on each of its paths', async () => {
    for (const path of ['/v1/auth/nonce', '/auth/nonce', '/auth/solana/nonce']) {
      const { status, json } = await exchange(service.url, path, { method: 'POST' })
      expect(status).toBe(200)
      expect(json.nonce).toMatch(/^[A-Za-z0-9]{16,}$/)
      const remainingMs = Date.parse(json.expires_at) - now()
      expect(remainingMs).toBeGreaterThan(4 * minuteMs)
      expect(remainingMs).toBeLessThanOrEqual(5 * minuteMs)
    }
  })

  test('is consumed once even if the message is invalid', async () => {
    const message = createMessage(await newNonce(service.url))
    const signature = await wallet.sign(message)
    expect((await verify({ message: `${message}\n`, signature })).status).toBe(400)
    expect(await verify({ message, signature })).toMatchObject(refusedNonce)
    expect(await verify({ message, signature })).toMatchObject(refusedNonce)
  })

  test('is consumed with another nonce in a message that contains both', async () => {
    const [first, second] = [await newNonce(service.url), await newNonce(service.url)]
    const both = createMessage(first).replace('Issued', `Nonce: ${second}\nIssued`)
    expect(await verify({ message: both, signature: await wallet.sign(both) })).toMatchObject(refused)
    for (const nonce of [first, second]) {
      const message = createMessage(nonce)
      expect(await verify({ message, signature: await wallet.sign(message) })).toMatchObject(refusedNonce)
    }
  })

  test('is accepted for only one of several concurrent requests', async () => {
    const message = createMessage(await newNonce(service.url))
    const body = { message, signature: await wallet.sign(message) }
    const answers = await Promise.all([verify(body), verify(body), verify(body)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401])
  })

  test('that is unknown or expired is rejected', async () => {
    expect(await attempt(() => createMessage('0123456789abcdef0123456789abcdef'))).toMatchObject(refusedNonce)
    const uuid = '7148b9d6-cc75-4df9-8f61-ea746ce0c48e'
    const foreign = await attempt((nonce) => createMessage(nonce).replace(/(?<=Nonce: ).*/, uuid))
    expect(foreign).toMatchObject(refusedNonce)
    const nonce = await newNonce(service.url)
    passedMs += 5 * minuteMs
    // Requesting another nonce would evict this one.
    const message = createMessage(nonce)
    expect(await verify({ message, signature: await wallet.sign(message) })).toMatchObject(refusedNonce)
  })
})

const refusedNonce = { status: 401, json: { error: 'Invalid or expired nonce', code: 'auth/nonce' } }
const refused = { status: 400, json: { error: 'Verification failed', code: 'auth/verification' } }

describe('accepts a message of an Ethereum wallet', () => {
  test.each<[string, (nonce: string) => string]>([
    ['as viem makes it', (nonce) => createMessage(nonce)],
    ['as siwe makes it', (nonce) => new SiweMessage(fields(nonce)).prepareMessage()],
    ['as @signinwithethereum/siwe makes it', (nonce) => new ForkedSiweMessage(fields(nonce)).prepareMessage()],
    [
      'without a statement, by viem',
      (nonce) =>
        siweMessage(service.url, {
          ...fields(nonce),
          address: wallet.address,
          statement: undefined,
          version: '1',
          issuedAt: new Date(now()),
        }),
    ],
    ['without a statement, by siwe', (nonce) => new SiweMessage(without(fields(nonce), 'statement')).prepareMessage()],
    [
      'with all that it can hold',
      (nonce) =>
        createMessage(nonce, {
          scheme: 'http',
          expirationTime: new Date(now() + minuteMs),
          notBefore: new Date(now() - minuteMs),
          requestId: 'request-1',
          resources: ['https://example.com/one', 'ipfs://two'],
        }),
    ],
    ['for the test network', (nonce) => createMessage(nonce, { chainId: 84532 })],
    ['for the name without the port', (nonce) => createMessage(nonce, { domain: '127.0.0.1' })],
    [
      'for a domain of the list',
      (nonce) => createMessage(nonce, { domain: 'conway.tech', uri: 'https://api.conway.tech/v1/auth/verify' }),
    ],
    ['with times in whole seconds', (nonce) => createMessage(nonce).replace(/\.\d{3}Z/g, 'Z')],
  ])('%s', async (_, textOf) => {
    const answer = await attempt(textOf)
    expect(answer.json).toEqual(signedIn)
  })
})

describe('rejects a message of an Ethereum wallet', () => {
  const later = (ms: number) => new Date(now() + ms)
  test.each<[string, (nonce: string) => string]>([
    ['for another domain', (nonce) => createMessage(nonce, { domain: 'evil.example' })],
    ['for a domain that ends like ours', (nonce) => createMessage(nonce, { domain: 'evil-conway.tech' })],
    ['for another port', (nonce) => createMessage(nonce, { domain: '127.0.0.1:1' })],
    [
      'for the name without the port, with the address of another port',
      (nonce) => createMessage(nonce, { domain: '127.0.0.1', uri: 'http://127.0.0.1:1/' }),
    ],
    ['with the address of another port', (nonce) => createMessage(nonce, { uri: 'http://127.0.0.1:1/' })],
    ['with the address of another place', (nonce) => createMessage(nonce, { uri: 'https://evil.example/' })],
    [
      'with the address of a place whose name ends like ours',
      (nonce) => createMessage(nonce, { domain: 'conway.tech', uri: 'https://evil-conway.tech/' }),
    ],
    ['with an address of another scheme', (nonce) => createMessage(nonce).replace('URI: http:', 'URI: ftp:')],
    ['for another chain', (nonce) => createMessage(nonce, { chainId: 1 })],
    ['of another version', (nonce) => createMessage(nonce).replace('Version: 1', 'Version: 2')],
    ['from the future', (nonce) => createMessage(nonce, { issuedAt: later(5 * minuteMs) })],
    ['older than its nonce', (nonce) => createMessage(nonce, { issuedAt: later(-5 * minuteMs) })],
    ['that is over', (nonce) => createMessage(nonce, { expirationTime: later(-1000) })],
    ['that is not yet', (nonce) => createMessage(nonce, { notBefore: later(minuteMs) })],
    ['with a time that is none', (nonce) => createMessage(nonce).replace(/Issued At: .*/, 'Issued At: yesterday')],
    [
      'with a time in another form',
      (nonce) => createMessage(nonce).replace(/Issued At: .*/, `Issued At: ${later(0).toUTCString()}`),
    ],
    ['with something behind it', (nonce) => `${createMessage(nonce)}\nand more`],
    ['with an empty line behind it', (nonce) => `${createMessage(nonce)}\n`],
    ['with a line in between', (nonce) => createMessage(nonce).replace('Version', 'Role: owner\nVersion')],
    ['with a field twice', (nonce) => createMessage(nonce).replace('Version', `URI: ${service.url}\nVersion`)],
    ['with two nonces', (nonce) => createMessage(nonce).replace('Issued', 'Nonce: 0123456789abcdef\nIssued')],
    [
      'with its fields in another order',
      (nonce) => createMessage(nonce).replace(/(Version: 1)\n(Chain ID: 8453)/, '$2\n$1'),
    ],
    ['with lines that end otherwise', (nonce) => createMessage(nonce).replaceAll('\n', '\r\n')],
    [
      'with a statement of two lines',
      (nonce) => createMessage(nonce).replace('Sign in to Steward.', 'Sign in\nto Steward.'),
    ],
    [
      'with the address in lower case',
      (nonce) => createMessage(nonce).replace(wallet.address, wallet.address.toLowerCase()),
    ],
    [
      'with the address in upper case',
      (nonce) => createMessage(nonce).replace(wallet.address, `0x${wallet.address.slice(2).toUpperCase()}`),
    ],
    ['with a resource that is no URI', (nonce) => `${createMessage(nonce)}\nResources:\n- nothing`],
    ['with a blank in its address', (nonce) => createMessage(nonce).replace('/verify', '/verify me')],
    ['with a blank in its request id', (nonce) => createMessage(nonce, { requestId: 'one two' })],
    ['with quotes in its statement', (nonce) => createMessage(nonce).replace('Steward.', '"Steward".')],
    ['with letters beyond ASCII in its statement', (nonce) => createMessage(nonce).replace('Steward.', 'Stéward.')],
    ['without a nonce', (nonce) => createMessage(nonce).replace(/Nonce: .*\n/, '')],
    ['without a chain', (nonce) => createMessage(nonce).replace(/Chain ID: .*\n/, '')],
    ['that is none', () => 'Let me in.'],
  ])('%s', async (_, textOf) => {
    expect(await attempt(textOf)).toMatchObject(refused)
  })

  test('signed by another key', async () => {
    expect(await attempt((nonce) => createMessage(nonce), evmWallet(now).sign)).toMatchObject(refused)
  })

  test('changed after it was signed', async () => {
    const message = createMessage(await newNonce(service.url))
    const signature = await wallet.sign(message)
    expect(await verify({ message: message.replace('Sign in to', 'Sign in for'), signature })).toMatchObject(refused)
  })

  test.each<[string, (signature: string) => string]>([
    ['with the high s', highS],
    ['in the short form of EIP-2098', shortForm],
    ['with a byte more', (signature) => `${signature}00`],
    ['with a byte less', (signature) => signature.slice(0, -2)],
    ['without 0x', (signature) => signature.slice(2)],
    ['with a v that there is not', (signature) => `${signature.slice(0, -2)}1d`],
    ['of zeros', () => `0x${'0'.repeat(128)}1b`],
    ['with an r that is too large', (signature) => `0x${'f'.repeat(64)}${signature.slice(66)}`],
    ['that is none', () => 'signature'],
  ])('with a signature %s', async (_, tampered) => {
    const sign = async (text: string) => tampered(await wallet.sign(text))
    expect(await attempt((nonce) => createMessage(nonce), sign)).toMatchObject(refused)
  })
})

function highS(signature: string): string {
  const s = secp256k1.CURVE.n - BigInt(`0x${signature.slice(66, 130)}`)
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${signature.endsWith('1b') ? '1c' : '1b'}`
}

function shortForm(signature: string): string {
  const odd = signature.endsWith('1c') ? 1n << 255n : 0n
  const s = BigInt(`0x${signature.slice(66, 130)}`) | odd
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}`
}

describe('a message of a Solana wallet', () => {
  const input = (nonce: string) => ({
    ...siwsInput(service.url, solana.address),
    issuedAt: new Date(now()).toISOString(),
    nonce,
  })
  const base58Of = solana.sign
  const signBase64 = async (text: string) => base64.encode(await solana.signBytes(text))

  test.each<[string, (nonce: string) => string, (text: string) => Promise<string>]>([
    ['as the standard library makes it', (nonce) => createSignInMessageText(input(nonce)), base58Of],
    ['with a signature in base64', (nonce) => createSignInMessageText(input(nonce)), signBase64],
    ['without a statement', (nonce) => createSignInMessageText(without(input(nonce), 'statement')), base58Of],
    [
      'with nothing but a nonce',
      (nonce) => createSignInMessageText({ domain: input(nonce).domain, address: solana.address, nonce }),
      base58Of,
    ],
    [
      'with an empty line for the statement',
      (nonce) => createSignInMessageText({ ...input(nonce), statement: 'GAP' }).replace('GAP\n', ''),
      base58Of,
    ],
    [
      'with its fields in the order of a public client, which has no version',
      (nonce) =>
        [
          `${input(nonce).domain} wants you to sign in with your Solana account:`,
          solana.address,
          '',
          'Sign in to Steward.',
          '',
          `URI: ${service.url}`,
          `Nonce: ${nonce}`,
          `Issued At: ${new Date(now()).toISOString()}`,
          'Chain ID: mainnet',
        ].join('\n'),
      base58Of,
    ],
    [
      'with all that it can hold',
      (nonce) =>
        createSignInMessageText({
          ...input(nonce),
          expirationTime: new Date(now() + minuteMs).toISOString(),
          notBefore: input(nonce).issuedAt,
          requestId: '1',
          resources: ['https://example.com/'],
        }),
      base58Of,
    ],
  ])('is accepted %s', async (_, textOf, sign) => {
    for (const path of ['/v1/auth/verify', '/auth/solana/verify']) {
      const message = textOf(await newNonce(service.url))
      const answer = await post(path, { message, signature: await sign(message) })
      expect(answer.json).toEqual(signedIn)
      const me = await service.send('/auth/me', { key: answer.json.access_token })
      expect(me.json).toMatchObject({ wallet_address: solana.address, wallet_type: 'solana', role: 'user' })
    }
  })

  test.each<[string, (nonce: string) => string]>([
    ['for another domain', (nonce) => createSignInMessageText({ ...input(nonce), domain: 'evil.example' })],
    ['for another chain', (nonce) => createSignInMessageText({ ...input(nonce), chainId: 'solana:other' })],
    ['of another version', (nonce) => createSignInMessageText({ ...input(nonce), version: '2' })],
    [
      'that is over',
      (nonce) => createSignInMessageText({ ...input(nonce), expirationTime: new Date(now() - 1).toISOString() }),
    ],
    ['with something behind it', (nonce) => `${createSignInMessageText(input(nonce))}\n`],
    ['with a resource that is no URI', (nonce) => createSignInMessageText({ ...input(nonce), resources: ['a b'] })],
    ['with an address that is none', (nonce) => createSignInMessageText({ ...input(nonce), address: '1111' })],
  ])('is rejected %s', async (_, textOf) => {
    expect(await attempt(textOf, solana.sign)).toMatchObject(refused)
  })

  test('with the address of a victim but signed by another key is rejected', async () => {
    const thief = solanaWallet(now)
    expect(await attempt((nonce) => createSignInMessageText(input(nonce)), thief.sign)).toMatchObject(refused)
  })

  test('from a key that verifies any message is rejected', async () => {
    // The key is the neutral point, and the signature has R = neutral point and s = 0. Lax verifiers accept it for any
    // message.
    const weak = '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM'
    const sign = async () => base64.encode(Uint8Array.from({ length: 64 }, (_, index) => (index === 0 ? 1 : 0)))
    const createText = (nonce: string) => createSignInMessageText({ ...input(nonce), address: weak })
    expect(await attempt(createText, sign)).toMatchObject(refused)
  })

  test('is not accepted as a message of an Ethereum wallet', async () => {
    const message = createSignInMessageText(input(await newNonce(service.url)))
    const body = { message, signature: await solana.sign(message), chain_type: 'evm' }
    expect(await verify(body)).toMatchObject(refused)
  })
})

function without<T extends object, K extends keyof T>(fields: T, name: K): Omit<T, K> {
  const { [name]: _, ...rest } = fields
  return rest
}

describe('an access token', () => {
  const claims = async (): Promise<{ token: string; payload: JWTPayload }> => {
    const { access_token: token } = (await wallet.signIn(service.url)).json
    return { token, payload: JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString()) }
  }
  const secret = () => Buffer.from(readFileSync(join(service.dataDir, 'token.secret'), 'utf8').trim(), 'base64url')
  const header = { alg: 'HS256', typ: 'at+jwt', kid: 'steward' }
  const createToken = (payload: JWTPayload, head: typeof header = header, key: Uint8Array = secret()) =>
    new SignJWT(payload).setProtectedHeader(head).sign(key)
  const ask = async (key: string) => (await service.send('/v1/auth/me', { key })).status

  test('identifies the account on its chain and works like a key', async () => {
    const { token, payload } = await claims()
    expect(payload).toMatchObject({
      sub: `eip155:8453:${wallet.address}`,
      iss: expect.any(String),
      aud: expect.any(String),
    })
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3600)
    for (const headers of [{ authorization: `Bearer ${token}` }, { authorization: token }, { 'x-api-key': token }]) {
      expect((await service.send('/v1/sandboxes', { key: null, headers })).json.count).toBe(0)
    }
  })

  test('is accepted if signed with the secret, so each refusal below has one reason', async () => {
    expect(await ask(await createToken((await claims()).payload))).toBe(200)
  })

  test.each<[string, (payload: JWTPayload, token: string) => Promise<string>]>([
    [
      'without a signature',
      async (payload) => `${encode({ alg: 'none', typ: 'at+jwt', kid: 'steward' })}.${encode(payload)}.`,
    ],
    ['with its signature cut off', async (_, token) => token.slice(0, token.lastIndexOf('.') + 1)],
    ['with a signature spelled otherwise', async (_, token) => `${token}=`],
    ['with another secret', (payload) => createToken(payload, header, Buffer.alloc(32, 1))],
    ['with a secret that is guessed', (payload) => createToken(payload, header, new TextEncoder().encode('steward'))],
    ['with another algorithm', (payload) => createToken(payload, { ...header, alg: 'HS512' })],
    [
      'that says RS256',
      async (payload, token) => `${encode({ ...header, alg: 'RS256' })}.${encode(payload)}.${token.split('.')[2]}`,
    ],
    ['of another type', (payload) => createToken(payload, { ...header, typ: 'JWT' })],
    ['of another issuer', (payload) => createToken({ ...payload, iss: 'urn:else' })],
    ['for another audience', (payload) => createToken({ ...payload, aud: 'urn:else' })],
    ['that is over', (payload) => createToken({ ...payload, exp: Math.floor(now() / 1000) - 1 })],
    ['without an end', (payload) => createToken(without(payload, 'exp') as JWTPayload)],
    [
      'of a sign-in that there was not',
      (payload) => createToken({ ...payload, family: 'fam_000000000000000000000000' }),
    ],
    ['of another account', (payload) => createToken({ ...payload, account: 'acct_000000000000000000000000' })],
    [
      'whose claims were changed',
      async (payload, token) => token.replace(/\.[^.]+\./, `.${encode({ ...payload, sub: 'eip155:8453:0x1' })}.`),
    ],
  ])('%s is refused', async (_, forge) => {
    const { token, payload } = await claims()
    expect(await ask(await forge(payload, token))).toBe(401)
  })

  test('expires after an hour', async () => {
    const { access_token: token } = (await wallet.signIn(service.url)).json
    expect(await ask(token)).toBe(200)
    passedMs += 60 * minuteMs
    expect(await ask(token)).toBe(401)
  })

  test('is signed with a secret readable by this user only that survives a restart', async () => {
    const { access_token: token, refresh_token } = (await wallet.signIn(service.url)).json
    const sharedSecret = secret()
    await service.restart()
    expect(secret()).toEqual(sharedSecret)
    expect(statSync(join(service.dataDir, 'token.secret')).mode & 0o777).toBe(0o600)
    expect(await ask(token)).toBe(200)
    expect((await post('/v1/auth/refresh', { refresh_token })).status).toBe(200)
  })
})

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

describe('a refresh token', () => {
  const refresh = (refresh_token: string, path = '/v1/auth/refresh') => post(path, { refresh_token })
  const over = { status: 401, json: { error: 'The refresh token is not valid.', code: 'auth/refresh' } }
  const isIn = async (key: string) => (await service.send('/v1/auth/me', { key })).status === 200

  test('returns a new pair once per token for thirty days', async () => {
    const first = (await wallet.signIn(service.url)).json
    const second = await refresh(first.refresh_token, '/auth/refresh')
    expect(second.json).toEqual(signedIn)
    expect(second.json.refresh_token).not.toBe(first.refresh_token)
    passedMs += 29 * 24 * 60 * minuteMs
    const third = await refresh(second.json.refresh_token)
    expect(third.status).toBe(200)
    expect(await isIn(third.json.access_token)).toBe(true)
    passedMs += 30 * 24 * 60 * minuteMs
    expect(await refresh(third.json.refresh_token)).toMatchObject(over)
  })

  test('when reused revokes only the tokens from the same sign-in', async () => {
    const otherSession = (await wallet.signIn(service.url)).json
    const first = (await wallet.signIn(service.url)).json
    const second = (await refresh(first.refresh_token)).json
    expect(await refresh(first.refresh_token)).toMatchObject(over)
    expect(await refresh(second.refresh_token)).toMatchObject(over)
    expect([await isIn(first.access_token), await isIn(second.access_token)]).toEqual([false, false])
    expect(await isIn(otherSession.access_token)).toBe(true)
    const activity = await service.send('/v1/activity?limit=500', { key: otherSession.access_token })
    expect(activity.json.activities.map(({ type }: { type: string }) => type)).toContain('auth.refused_reuse')
  })

  test('succeeds once when used concurrently and is then revoked', async () => {
    const { refresh_token } = (await wallet.signIn(service.url)).json
    const answers = await Promise.all([refresh(refresh_token), refresh(refresh_token), refresh(refresh_token)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401])
    const won = answers.find(({ status }) => status === 200)?.json
    expect(await isIn(won.access_token)).toBe(false)
  })

  test('is revoked with its access tokens when the wallet signs out', async () => {
    const tokens = (await wallet.signIn(service.url)).json
    for (const _ of ['once', 'and again']) {
      expect((await post('/auth/logout', { refresh_token: tokens.refresh_token })).json).toEqual({ success: true })
    }
    expect(await isIn(tokens.access_token)).toBe(false)
    expect(await refresh(tokens.refresh_token)).toMatchObject(over)
  })

  test.each(['', 'srt_', 'x'.repeat(2000)])('is rejected if invalid', async (refresh_token) => {
    expect((await refresh(refresh_token)).status).toBeGreaterThanOrEqual(400)
    expect(await refresh(`srt_${'A'.repeat(43)}`)).toMatchObject(over)
  })

  test('is not stored in the database, like the secret of the access tokens', async () => {
    const tokens = (await wallet.signIn(service.url)).json
    const secret = readFileSync(join(service.dataDir, 'token.secret'), 'utf8').trim()
    for (const ending of ['', '-wal']) {
      const bytes = readFileSync(join(service.dataDir, `service.sqlite${ending}`))
      for (const text of [tokens.refresh_token, tokens.access_token, secret]) expect(bytes.includes(text)).toBe(false)
    }
  })
})

describe('wallets of an account', () => {
  const me = async (key: string) => (await service.send('/v1/auth/me', { key })).json
  const link = async (key: string, newcomer: ReturnType<typeof evmWallet>) =>
    service.send('/v1/auth/wallets', { key, body: await newcomer.signedMessage(service.url) })
  const unlink = (key: string, address: string) =>
    service.send(`/v1/auth/wallets/${address}`, { method: 'DELETE', key })

  test('a token identifies its sign-in and the active ones of its account', async () => {
    const [first, second, other] = [evmWallet(now), evmWallet(now), evmWallet(now)]
    for (const newcomer of [first, second]) await link(service.key, newcomer)
    const signIn = async (newcomer: ReturnType<typeof evmWallet>) => {
      const { access_token: token, refresh_token } = (await newcomer.signIn(service.url)).json
      return { token, refresh_token, id: (await me(token)).sign_in_id }
    }
    const [ended, active, unlinked, elsewhere] = [
      await signIn(first),
      await signIn(first),
      await signIn(second),
      await signIn(other),
    ]
    expect(new Set([ended.id, active.id, unlinked.id, elsewhere.id]).size).toBe(4)
    expect(await me(service.key)).toMatchObject({ sign_in_id: null })
    const ids = [ended, active, unlinked, elsewhere].map(({ id }) => id).concat('fam_unknown')
    const listActive = async (key: string, query = ids.join(',')) =>
      (await service.send(`/v1/auth/me?sign_in_ids=${query}`, { key })).json.active_sign_in_ids
    expect(await listActive(service.key)).toEqual([ended.id, active.id, unlinked.id])
    expect(await listActive(elsewhere.token)).toEqual([elsewhere.id])
    await post('/v1/auth/logout', { refresh_token: ended.refresh_token })
    await unlink(service.key, second.address)
    expect(await listActive(service.key)).toEqual([active.id])
    expect(await me(service.key)).not.toHaveProperty('active_sign_in_ids')
    for (const query of ['', 'a,,b', 'a b', 'x'.repeat(65), Array(101).fill('a').join(',')]) {
      const answer = await service.send(`/v1/auth/me?sign_in_ids=${encodeURIComponent(query)}`)
      expect([answer.status, answer.json.code]).toEqual([400, 'request/invalid'])
    }
  })

  test('a wallet linked to the owner signs in as the owner until unlinked', async () => {
    const mine = evmWallet(now)
    const linked = await link(service.key, mine)
    expect(linked).toMatchObject({
      status: 201,
      json: { wallet_address: mine.address, wallet_type: 'evm', caip10: `eip155:8453:${mine.address}` },
    })
    expect((await link(service.key, mine)).status).toBe(201)
    const tokens = (await mine.signIn(service.url)).json
    const owner = await me(service.key)
    expect(await me(tokens.access_token)).toMatchObject({
      id: owner.id,
      role: 'owner',
      wallet_address: mine.address,
      api_key: null,
    })
    expect((await unlink(service.key, mine.address.toLowerCase())).json).toMatchObject({
      success: true,
      wallet_address: mine.address,
    })
    expect((await service.send('/v1/auth/me', { key: tokens.access_token })).status).toBe(401)
    expect((await post('/v1/auth/refresh', { refresh_token: tokens.refresh_token })).status).toBe(401)
    expect(await me((await mine.signIn(service.url)).json.access_token)).toMatchObject({ role: 'user' })
  })

  test('sign-ins of an unlinked wallet remain revoked when it is linked again', async () => {
    const mine = evmWallet(now)
    await link(service.key, mine)
    const { access_token: key, refresh_token } = (await mine.signIn(service.url)).json
    await unlink(service.key, mine.address)
    expect((await link(service.key, mine)).status).toBe(201)
    expect((await service.send('/v1/auth/me', { key })).status).toBe(401)
    expect((await post('/v1/auth/refresh', { refresh_token })).status).toBe(401)
    await unlink(service.key, mine.address)
  })

  test('a wallet of another account cannot be linked or unlinked', async () => {
    const theirs = evmWallet(now)
    await theirs.signIn(service.url)
    expect(await link(service.key, theirs)).toMatchObject({ status: 409, json: { code: 'auth/wallet-linked' } })
    const foreign = await unlink(service.key, theirs.address)
    const unknown = await unlink(service.key, evmWallet(now).address)
    expect([foreign.status, foreign.json.code]).toEqual([404, 'auth/wallet-not-linked'])
    expect([unknown.status, unknown.json.code]).toEqual([404, 'auth/wallet-not-linked'])
  })

  test('linking requires a fresh message from the wallet', async () => {
    const body = await evmWallet(now).signedMessage(service.url)
    const forged = { ...body, signature: await wallet.sign(body.message) }
    expect(await service.send('/v1/auth/wallets', { body: forged })).toMatchObject(refused)
    expect(await service.send('/v1/auth/wallets', { body })).toMatchObject(refusedNonce)
  })

  test('the only sign-in method of an account cannot be removed', async () => {
    const lone = evmWallet(now)
    const { access_token: key } = (await lone.signIn(service.url)).json
    // A key cannot create another key, so an account with only a key could never replace it.
    expect(await unlink(key, lone.address)).toMatchObject({ status: 403, json: { code: 'auth/forbidden' } })
    const second = evmWallet(now)
    expect((await link(key, second)).status).toBe(201)
    expect((await unlink(key, lone.address)).status).toBe(200)
    const { access_token: otherToken } = (await second.signIn(service.url)).json
    expect(await me(otherToken)).toMatchObject({ wallets: [{ wallet_address: second.address }] })
  })

  test('unlinking a wallet revokes only the API keys that its sign-ins created', async () => {
    const [first, second] = [evmWallet(now), evmWallet(now)]
    const { access_token: key, refresh_token } = (await first.signIn(service.url)).json
    await link(key, second)
    const { access_token: otherToken } = (await second.signIn(service.url)).json
    const create = async (token: string, name: string) =>
      (await service.send('/v1/auth/api-keys', { key: token, body: { name } })).json
    const [theirs, stays] = [await create(key, 'of the first'), await create(otherToken, 'of the second')]
    await exchange(service.url, '/v1/auth/logout', { body: { refresh_token } })
    expect((await service.send('/v1/auth/me', { key: theirs.key })).status).toBe(200) // a sign-out does not revoke keys
    const { json } = await unlink(otherToken, first.address)
    expect(json).toEqual({
      success: true,
      wallet_address: first.address,
      revoked_api_keys: [{ id: theirs.id, name: 'of the first' }],
      linked_wallets: [second.address],
      message:
        'The wallet is unlinked from this account. Its sign-ins have ended, and the API key that they created is revoked. One other wallet, which it linked, still signs in.',
    })
    expect((await me(otherToken)).wallets).toMatchObject([{ wallet_address: second.address, linked_by: first.address }])
    expect((await service.send('/v1/auth/me', { key: theirs.key })).status).toBe(401)
    expect(await me(stays.key)).toMatchObject({ api_key: { name: 'of the second' } })
    const { activities } = (await service.send('/v1/activity?after=0', { key: otherToken })).json
    const descriptions = activities.map(({ description }: { description: string }) => description)
    expect(descriptions).toContainEqual(
      expect.stringMatching(/^Revoked the API key “of the first” \(sk_steward_.*…\), which the wallet 0x.* created\.$/),
    )
  })

  test('revoking a sign-in after refresh token theft reports the keys that it created', async () => {
    const { access_token: key, refresh_token } = (await evmWallet(now).signIn(service.url)).json
    const script = (await service.send('/v1/auth/api-keys', { key, body: { name: 'script' } })).json
    for (const status of [200, 401]) {
      expect((await exchange(service.url, '/v1/auth/refresh', { body: { refresh_token } })).status).toBe(status)
    }
    const { activities } = (await service.send('/v1/activity?after=0', { key: script.key })).json
    expect(activities.at(-1)).toMatchObject({
      type: 'auth.refused_reuse',
      description:
        'A refresh token was used twice, so the sign-in that it belongs to was ended. An API key that it created still works: revoke those that you do not know.',
    })
  })
})

test('rejects a message for the caller’s Host header if the request reached another address', async () => {
  const host = 'localhost:9'
  const message = createMessage(await newNonce(service.url), { domain: host, uri: `http://${host}/` })
  const body = { message, signature: await wallet.sign(message) }
  expect(await exchange(service.url, '/v1/auth/verify', { headers: { host }, body })).toMatchObject(refused)
})

test('a service that creates no accounts accepts only linked wallets', async () => {
  const closed = await runningService({ host: 'none', newWallets: 'refused' })
  try {
    const mine = evmWallet()
    expect(await mine.signIn(closed.url)).toMatchObject({ status: 403, json: { code: 'auth/forbidden' } })
    await closed.send('/v1/auth/wallets', { body: await mine.signedMessage(closed.url) })
    expect((await mine.signIn(closed.url)).status).toBe(200)
  } finally {
    await closed.close()
  }
})

test('rate-limited callers receive a retry time and the owner is never limited', async () => {
  const limited = await runningService({
    host: 'none',
    rateLimits: { perKey: 2, perAddress: 7, signInsPerAddress: 3 },
    now: () => 1_800_000_000_000,
  })
  try {
    const { access_token: key } = (await evmWallet(() => 1_800_000_000_000).signIn(limited.url)).json
    const nonce = () => exchange(limited.url, '/v1/auth/nonce', { method: 'POST' })
    const statuses = [await nonce(), await nonce()].map(({ status }) => status)
    expect(statuses).toEqual([200, 429])
    expect((await exchange(limited.url, '/v1/automatons/register', { body: {} })).status).toBe(429)
    const requests = [1, 2, 3].map(() => limited.send('/v1/sandboxes', { key }))
    const slowed = (await Promise.all(requests)).filter(({ status }) => status === 429)
    expect(slowed).toMatchObject([
      { headers: { 'retry-after': expect.stringMatching(/^\d+$/) }, json: { code: 'request/rate' } },
    ])
    for (let count = 0; count < 20; count += 1) expect((await limited.send('/v1/sandboxes')).status).toBe(200)
  } finally {
    await limited.close()
  }
})
