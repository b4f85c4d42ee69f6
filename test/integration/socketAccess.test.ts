import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/assertions/eventually.ts'
import { findMessage, openSocket, type SocketClient } from '../support/clients/socketClient.ts'
import { evmWallet } from '../support/clients/wallets.ts'
import { exchange, runningService, type TestService } from '../support/processes/runningService.ts'

/** A WebSocket is closed when the credential that opened it ends. */
let service: TestService
let passedMs = 0
const now = () => Date.now() + passedMs
const wallet = evmWallet(now)

beforeAll(async () => {
  service = await runningService({ host: 'none', newWallets: 'welcome', now })
})
afterAll(() => service?.close())

const signIn = async () => (await wallet.signIn(service.url)).json
const post = (path: string, body: unknown) => exchange(service.url, path, { body })

async function events(credential: string): Promise<SocketClient> {
  const socket = await openSocket(`${service.url}/v1/events`, { headers: { authorization: `Bearer ${credential}` } })
  await findMessage(socket, { type: 'ready' })
  return socket
}

async function staysOpen(socket: SocketClient, credential: string): Promise<void> {
  const { json } = await service.send('/v1/auth/api-keys', { key: credential, body: { name: 'one more' } })
  await findMessage(socket, { type: 'activity.noted' })
  expect(socket.closed).toBeUndefined()
  await service.send(`/v1/auth/api-keys/${json.id}`, { method: 'DELETE', key: credential })
}

const waitUntilClosed = (socket: SocketClient) => until('the socket is closed', () => socket.closed)
const accessEnded = { code: 4401, reason: 'Access has ended' }

test('a revoked key closes only its own sockets', async () => {
  const { json } = await service.send('/v1/auth/api-keys', { body: { name: 'script' } })
  const [theirs, mine] = [await events(json.key), await events(service.key)]
  await service.send(`/v1/auth/api-keys/${json.id}`, { method: 'DELETE' })
  expect(await waitUntilClosed(theirs)).toEqual(accessEnded)
  await staysOpen(mine, service.key)
  mine.close()
})

test.each<[string, (tokens: { access_token: string; refresh_token: string }) => Promise<unknown>]>([
  ['signing out', ({ refresh_token }) => post('/v1/auth/logout', { refresh_token })],
  [
    'a refresh token that comes twice',
    async ({ refresh_token }) => {
      await post('/v1/auth/refresh', { refresh_token })
      await post('/v1/auth/refresh', { refresh_token })
    },
  ],
  [
    'the end of its hour, when the sockets are looked at next,',
    async () => {
      passedMs += 60 * 60_000
      const { json } = await service.send('/v1/auth/api-keys', { body: { name: 'of somebody else' } })
      await service.send(`/v1/auth/api-keys/${json.id}`, { method: 'DELETE' })
    },
  ],
  [
    'parting the wallet',
    async ({ access_token: key }) => {
      await service.send('/v1/auth/wallets', { key, body: await evmWallet(now).signedMessage(service.url) })
      await service.send(`/v1/auth/wallets/${wallet.address}`, { method: 'DELETE', key })
    },
  ],
])('%s closes the sockets of a sign-in', async (_, end) => {
  const tokens = await signIn()
  const socket = await events(tokens.access_token)
  await staysOpen(socket, tokens.access_token)
  await end(tokens)
  expect(await waitUntilClosed(socket)).toEqual(accessEnded)
})
