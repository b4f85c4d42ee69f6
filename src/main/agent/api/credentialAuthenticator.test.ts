import type { IncomingMessage } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { startFakeService } from '#test/support/fakes/fakeService.ts'
import { createServiceClient } from '../connections/serviceClient.ts'
import { createCredentialAuthenticator } from './credentialAuthenticator.ts'

const me = { wallet_address: null, wallet_type: null, email: null, name: null, role: 'owner', wallets: [] }
const createMe = (id: string, name: string) => ({ ...me, id: 'acct_1', api_key: { id, name, key_prefix: 'sk_' } })
const address = '0x5d38E6C1923492247511a01b49e34A26cacD6811'
const responses: Record<string, unknown> = {
  'Bearer own': createMe('key_0', 'Owner key'),
  'Bearer script': createMe('key_1', 'Build agent'),
  'Bearer other': { ...createMe('key_2', 'x'), id: 'acct_2' },
  'Bearer token': { ...me, id: 'acct_1', wallet_address: address, wallet_type: 'evm', api_key: null },
}

async function startClients() {
  const revoked = new Set<string>()
  const service = await startFakeService({
    answer({ headers }, response) {
      const { authorization = '' } = headers
      const me = revoked.has(authorization) ? undefined : responses[authorization]
      response.writeHead(me ? 200 : 401, { 'content-type': 'application/json' })
      response.end(JSON.stringify(me ?? { error: 'The API key is not valid.', code: 'auth/invalid' }))
    },
  })
  const clock = { nowMs: 0, isAway: false }
  const target = () => (clock.isAway ? undefined : { url: service.url, key: 'own', certificate: undefined })
  const client = createServiceClient(target)
  onTestFinished(async () => {
    await client.close()
    await service.close()
  })
  const { identifyClient, forget } = createCredentialAuthenticator({ client, target, now: () => clock.nowMs })
  // `identifyClient` reads only the headers.
  const identify = (headers: Record<string, string>) => identifyClient({ headers } as unknown as IncomingMessage)
  return { who: identify, forget, clock, revoked, requests: service.requests }
}

const code = (expected: string) => expect.objectContaining({ code: expected })

test('identifies a key by id and name, a token by its wallet', async () => {
  const { who: identify } = await startClients()
  const script = { kind: 'client', id: 'key:key_1', name: 'Build agent' }
  expect(await identify({ authorization: 'Bearer script' })).toEqual(script)
  expect(await identify({ 'x-api-key': 'script' })).toEqual(script)
  const token = await identify({ authorization: 'Bearer token' })
  expect(token).toEqual({
    kind: 'client',
    id: expect.stringMatching(/^token:[0-9a-f]{24}$/),
    name: 'Signed in as 0x5d38…6811',
  })
  expect(await identify({})).toBeUndefined()
  expect(await identify({ authorization: '' })).toBeUndefined()
})

test('rejects a client of another account and an unknown credential', async () => {
  const { who: identify } = await startClients()
  await expect(identify({ authorization: 'Bearer other' })).rejects.toThrow(code('auth/forbidden'))
  await expect(identify({ authorization: 'Bearer guess' })).rejects.toThrow(code('auth/invalid'))
})

test('checks a cached key again after 15 seconds and rejects a revoked one', async () => {
  const { who: identify, clock, revoked, requests } = await startClients()
  const script = { authorization: 'Bearer script' }
  await identify(script)
  await identify(script)
  expect(requests).toHaveLength(2) // one for the key's account, one for the agent's account
  revoked.add('Bearer script')
  clock.nowMs += 15_000
  await expect(identify(script)).rejects.toThrow(code('auth/invalid'))
})

test('rejects clients while the service is unavailable', async () => {
  const { who: identify, clock } = await startClients()
  clock.isAway = true
  await expect(identify({ authorization: 'Bearer script' })).rejects.toThrow(code('service/unavailable'))
})

test('rejects a revoked key immediately after its cache entry is cleared', async () => {
  const { who: identify, forget, revoked } = await startClients()
  await identify({ authorization: 'Bearer script' })
  revoked.add('Bearer script')
  forget()
  await expect(identify({ authorization: 'Bearer script' })).rejects.toThrow(code('auth/invalid'))
})
