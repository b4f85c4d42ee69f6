import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { issuedKinds, type PrincipalKind, principalKinds, workKinds } from '#service/base/principals.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { evmWallet } from '../support/clients/wallets.ts'
import {
  bigBytes,
  openFrame,
  type RevocableCredential,
  revocableWork,
  type WorkContext,
} from '../support/fixtures/revocableWork.ts'
import { createInferenceOptions } from '../support/models/inferenceOptions.ts'
import { createProviderServer, type ProviderServer } from '../support/models/providerServer.ts'
import { exchange, runningService, type TestService } from '../support/processes/runningService.ts'

/**
 * Every kind of principal with every kind of work and credential that it can have. All of them end with the principal.
 */
const holderKinds: Readonly<Record<string, readonly PrincipalKind[]>> = { ...workKinds, ...issuedKinds }
const cells = Object.entries(holderKinds).flatMap(([holder, kinds]) => kinds.map((kind) => ({ kind, holder })))

let providers: ProviderServer
let service: TestService
let context: WorkContext
const owner = evmWallet()

beforeAll(async () => {
  providers = await createProviderServer()
  service = await runningService({ newWallets: 'welcome', inference: createInferenceOptions(providers) })
  const { access_token: key } = (await owner.signIn(service.url)).json
  const send: TestService['send'] = (path, options = {}) => service.send(path, { key, ...options })
  await service.send('/v1/credits/grants', { body: { to_address: owner.address, amount_cents: 10_000 } })
  const { json } = await send('/v1/sandboxes', { body: { name: 'revocations' } })
  const sandbox = `/v1/sandboxes/${json.id}`
  const script = readFileSync(new URL('../support/processes/portServer.py', import.meta.url), 'utf8')
  await send(`${sandbox}/files`, { body: { path: '/root/server.py', content: script } })
  await send(`${sandbox}/exec`, { body: { command: `head -c ${bigBytes} /dev/zero > /root/big` } })
  await send(`${sandbox}/exec`, {
    body: { command: 'setsid python3 /root/server.py 8000 it </dev/null >/tmp/log 2>&1 &' },
  })
  await send(`${sandbox}/ports/expose`, { body: { port: 8000, visibility: 'private' } })
  const { session_id: terminalId } = (await send(`${sandbox}/pty`, { body: { command: 'cat' } })).json
  context = { service, providers, sandbox, portHost: `8000-${json.id}.localhost`, terminalId, send }
  const headers = { host: context.portHost, authorization: `Bearer ${key}` }
  await until('the server to listen', async () => (await exchange(service.url, '/', { headers })).status === 200)
})
afterAll(async () => {
  await service?.close()
  await providers?.close()
})

async function newKey(): Promise<RevocableCredential & { id: string }> {
  const { id, key } = (await context.send('/v1/auth/api-keys', { body: { name: 'script' } })).json
  const end = () => context.send(`/v1/auth/api-keys/${id}`, { method: 'DELETE' })
  return { id, secret: key, previewHeaders: { authorization: `Bearer ${key}` }, end }
}

/** Signs in with a new wallet that is linked to the account. */
async function newSignIn(): Promise<RevocableCredential> {
  const wallet = evmWallet()
  await context.send('/v1/auth/wallets', { body: await wallet.signedMessage(service.url) })
  const { access_token: secret, refresh_token } = (await wallet.signIn(service.url)).json
  return {
    secret,
    previewHeaders: { authorization: `Bearer ${secret}` },
    end: () => exchange(service.url, '/v1/auth/logout', { body: { refresh_token } }),
    unlink: () => context.send(`/v1/auth/wallets/${wallet.address}`, { method: 'DELETE' }),
  }
}

/** Principals issued by a key end with the key. */
const credentials: Record<Exclude<PrincipalKind, 'person'>, () => Promise<RevocableCredential>> = {
  key: newKey,
  'sign-in': newSignIn,
  async link() {
    const key = await newKey()
    const { token } = (await service.send(`${context.sandbox}/terminal-session`, { method: 'POST', key: key.secret }))
      .json
    return { ...key, secret: token }
  },
  async 'port-token'() {
    const key = await newKey()
    const path = `${context.sandbox}/ports/8000/token`
    const { token } = (await service.send(path, { method: 'POST', key: key.secret })).json
    return { ...key, secret: token, previewHeaders: { 'x-steward-port-token': token } }
  },
  async frame() {
    const key = await newKey()
    return { ...key, previewHeaders: await openFrame(context, key.secret) }
  },
}

test('covers every kind of revocable work, credential and principal', () => {
  expect(Object.keys(revocableWork).toSorted()).toEqual(Object.keys(holderKinds).toSorted())
  expect([...new Set(cells.map(({ kind }) => kind))].toSorted()).toEqual(
    principalKinds.filter((kind) => kind !== 'person').toSorted(),
  )
})

describe.each(cells)('$kind that ends', ({ kind, holder }) => {
  test(`ends its ${holder}`, async () => {
    const create = kind === 'person' ? undefined : credentials[kind]
    const begin = Object.entries(revocableWork).find(([name]) => name === holder)?.[1]
    if (!create || !begin) throw new Error(`There is no row for ${kind} and ${holder}.`)
    const credential = await create()
    const assertEnded = await begin(context, credential)
    await credential.end()
    await assertEnded()
  })
})

test('charges the spending of a revoked key and releases its holds', async () => {
  const [key, balance] = [await newKey(), () => context.send('/v1/credits/balance')]
  const before = (await balance()).json
  const assertEnded = await revocableWork.completion(context, key)
  expect((await balance()).json.held_cents).toBeGreaterThan(0)
  await key.end()
  await assertEnded()
  await eventually(async () => expect((await balance()).json.held_cents).toBe(0))
  const { transactions } = (await context.send('/v1/credits/history?limit=1')).json
  expect(transactions[0]).toMatchObject({ type: 'inference', metadata: { estimated: true } })
  expect(transactions[0].amount_cents).toBeLessThan(0)
  expect((await balance()).json.balance_cents).toBeLessThanOrEqual(before.balance_cents)
})

test('the activity log records the commands of a revoked key under its name', async () => {
  const named = (await context.send('/v1/auth/api-keys', { body: { name: 'night job' } })).json
  const key = { ...(await newKey()), secret: named.key }
  const assertEnded = await revocableWork.exec(context, key)
  await context.send(`/v1/auth/api-keys/${named.id}`, { method: 'DELETE' })
  await assertEnded()
  await eventually(async () => {
    const { activities } = (await context.send(`${context.sandbox}/activity`)).json
    const commands = activities.filter(({ by }: { by: { name: string } }) => by.name === 'night job')
    expect(commands).toEqual([
      expect.objectContaining({ type: 'command.run', by: { kind: 'key', name: 'night job', id: named.id } }),
      expect.objectContaining({ type: 'command.run', by: { kind: 'key', name: 'night job', id: named.id } }),
    ])
  })
})

test('the activity log records link actions under the name of the issuing key', async () => {
  const { id, key } = (await context.send('/v1/auth/api-keys', { body: { name: 'link maker' } })).json
  const { token } = (await service.send(`${context.sandbox}/terminal-session`, { method: 'POST', key })).json
  await service.send(`${context.sandbox}/pty`, { key: token, body: { command: 'cat' } })
  await eventually(async () => {
    const { activities } = (await context.send(`${context.sandbox}/activity?limit=5`)).json
    expect(activities).toContainEqual(
      expect.objectContaining({ type: 'terminal.opened', by: { kind: 'link', name: 'link maker', id } }),
    )
  })
})
