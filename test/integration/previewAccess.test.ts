import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/assertions/eventually.ts'
import { openSocket } from '../support/clients/socketClient.ts'
import { evmWallet } from '../support/clients/wallets.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { exchange, runningService, type TestService } from '../support/processes/runningService.ts'

/** Connections to a port of a real sandbox are closed when the authority that opened them ends. */
let service: TestService
let passedMs = 0
const now = () => Date.now() + passedMs
const wallet = evmWallet(now)
/** Sandbox of the wallet's account, with a server on ports 8000 and 8001. */
let sandboxId: string
let tokens: { access_token: string; refresh_token: string }
let path: string

const script = readFileSync(new URL('../support/processes/portServer.py', import.meta.url), 'utf8')

beforeAll(async () => {
  service = await runningService({ newWallets: 'welcome', now })
  tokens = (await wallet.signIn(service.url)).json
  sandboxId = await sandboxWith([8000, 8001])
  path = `/v1/sandboxes/${sandboxId}`
})
afterAll(() => service?.close())

/** Sends with the wallet's current token, because the wallet may sign in again at any time. */
const send: TestService['send'] = (to, options = {}) => service.send(to, { key: tokens.access_token, ...options })

async function sandboxWith(ports: readonly number[]): Promise<string> {
  const { json, text } = await send('/v1/sandboxes', { body: { name: 'previews' } })
  expect(json?.id, text).toBeDefined()
  const sandboxPath = `/v1/sandboxes/${json.id}`
  await send(`${sandboxPath}/files`, { body: { path: '/root/server.py', content: script } })
  for (const port of ports) {
    await expose(port, 'public', sandboxPath)
    const command = `setsid python3 /root/server.py ${port} it </dev/null >/tmp/${port}.log 2>&1 &`
    await send(`${sandboxPath}/exec`, { body: { command } })
    await until('the server to answer', async () => (await readAnswer(getHost(json.id, port))) === 200)
  }
  return json.id
}

const expose = (port: number, visibility: 'public' | 'private', sandboxPath = path) =>
  send(`${sandboxPath}/ports/expose`, { body: { port, visibility } })
const getHost = (id: string, port: number) => `${port}-${id}.localhost`
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const newKey = async (): Promise<{ id: string; key: string }> =>
  (await send('/v1/auth/api-keys', { body: { name: 'script' } })).json
const portToken = async (port: number): Promise<string> =>
  (await send(`${path}/ports/${port}/token`, { method: 'POST' })).json.token

async function readAnswer(host: string, headers: Record<string, string> = {}): Promise<number> {
  return (await exchange(service.url, '/', { headers: { host, ...headers } })).status
}

/** A WebSocket and an endless response from the same port. */
type Preview = { ended(): Promise<void>; isOpen(): Promise<boolean>; close(): void }

async function preview(host: string, headers: Record<string, string> = {}): Promise<Preview> {
  const socket = await openSocket(`${service.url}/socket`, { headers: { host, ...headers } })
  let streamEnded = false
  const request = httpRequest(`${service.url}/stream`, { headers: { host, ...headers } })
  request.on('error', () => {})
  await new Promise<void>((resolve, reject) => {
    request.once('error', reject)
    request.once('response', (answer) => {
      answer.on('error', () => {})
      answer.once('close', () => {
        streamEnded = true
      })
      answer.resume()
      resolve()
    })
    request.end()
  })
  return {
    async ended() {
      await until('the WebSocket and the stream to end', () => socket.closed && streamEnded)
    },
    async isOpen() {
      const before = socket.messages.length
      socket.send({ still: 'there' })
      await until('the echo', () => socket.messages.length > before)
      return socket.closed === undefined && !streamEnded
    },
    close() {
      socket.close()
      request.destroy()
    },
  }
}

test('revoking a key ends only the connections that it opened', async () => {
  await expose(8000, 'private')
  const [first, second] = [await newKey(), await newKey()]
  const host = getHost(sandboxId, 8000)
  const [theirs, others] = [await preview(host, bearer(first.key)), await preview(host, { 'x-api-key': second.key })]
  await send(`/v1/auth/api-keys/${first.id}`, { method: 'DELETE' })
  await theirs.ended()
  expect(await others.isOpen()).toBe(true)
  others.close()
})

test('ending or expiring a sign-in ends the connections that it opened', async () => {
  await expose(8000, 'private')
  const host = getHost(sandboxId, 8000)
  const signedIn = (await wallet.signIn(service.url)).json
  const left = await preview(host, bearer(signedIn.access_token))
  await exchange(service.url, '/v1/auth/logout', { body: { refresh_token: signedIn.refresh_token } })
  await left.ended()

  const late = await preview(host, bearer(tokens.access_token))
  passedMs += 60 * 60_000
  tokens = (await wallet.signIn(service.url)).json
  await send(path, { method: 'PATCH', body: { name: 'looked at' } })
  await late.ended()
})

test('a port that becomes private closes only the connections of unauthorized visitors', async () => {
  await expose(8000, 'public')
  const [token, { key }] = [await portToken(8000), await newKey()]
  const stranger = secondAccount(service.dataDir).key
  const host = getHost(sandboxId, 8000)
  const anybody = await preview(host)
  const foreign = await preview(host, bearer(stranger))
  const guest = await preview(host, { cookie: `steward_port=${token}`, origin: `http://${host}` })
  const ownPreview = await preview(host, bearer(key))
  const elsewhere = await preview(getHost(sandboxId, 8001))
  await expose(8000, 'private')
  await Promise.all([anybody.ended(), foreign.ended()])
  for (const stays of [guest, ownPreview, elsewhere]) {
    expect(await stays.isOpen()).toBe(true)
    stays.close()
  }
  expect(await readAnswer(host)).toBe(401)
})

test('unexposing a port ends the connections of its tokens, even after another exposure', async () => {
  await expose(8000, 'private')
  const token = await portToken(8000)
  const guest = await preview(getHost(sandboxId, 8000), { 'x-steward-port-token': token })
  const elsewhere = await preview(getHost(sandboxId, 8001))
  await send(`${path}/ports/8000`, { method: 'DELETE' })
  await expose(8000, 'private')
  await guest.ended()
  expect(await elsewhere.isOpen()).toBe(true)
  elsewhere.close()
})

test('a removed domain or name ends its connections', async () => {
  await send(`${path}/ports/expose`, { body: { port: 8000, visibility: 'public', subdomain: 'first-name' } })
  await send(`${path}/domains`, { body: { domain: 'app.example', port: 8000 } })
  const [byDomain, byName] = [await preview('app.example'), await preview('first-name.localhost')]
  const otherPreview = await preview(getHost(sandboxId, 8000))
  await send(`${path}/domains/app.example`, { method: 'DELETE' })
  await byDomain.ended()
  expect(await byName.isOpen()).toBe(true)
  await send(`${path}/ports/expose`, { body: { port: 8000, subdomain: 'second-name' } })
  await byName.ended()
  expect(await otherPreview.isOpen()).toBe(true)
  otherPreview.close()
})

test('a stopped or deleted sandbox leaves no connection open', async () => {
  const id = await sandboxWith([8000])
  const sandboxPath = `/v1/sandboxes/${id}`
  const first = await preview(getHost(id, 8000))
  await send(`${sandboxPath}/stop`, { method: 'POST' })
  await first.ended()
  await send(sandboxPath, { method: 'DELETE' })
  expect(await readAnswer(getHost(id, 8000))).toBe(404)
})
