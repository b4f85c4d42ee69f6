import { chownSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { request as plainRequest } from 'node:http'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { canListen } from '#platform/net/loopbackListening.ts'
import { getMe } from '#shared/contract/auth.ts'
import { eventsPath } from '#shared/contract/events.ts'
import { streamClose } from '#shared/contract/terminalStream.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { isAlive } from '../support/assertions/processes.ts'
import { openSocket } from '../support/clients/socketClient.ts'
import { evmWallet, siweMessage } from '../support/clients/wallets.ts'
import { type FakeService, startFakeService } from '../support/fakes/fakeService.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createRunningAgent } from '../support/processes/runningAgent.ts'
import { exchange, runningService } from '../support/processes/runningService.ts'
import { startSupervisedService } from '../support/processes/startSupervisedService.ts'
import { startSteward } from '../support/processes/steward.ts'
import { testTls } from '../support/tls/tlsFiles.ts'

/** Deadline of a process on a busy machine. */
const restartWithinMs = 120_000

function service() {
  const supervised = startSupervisedService(temporaryFolder('supervised'))
  onTestFinished(() => supervised.close())
  return supervised
}

/** Starts a server that responds like a service and records requests. */
async function foreignServer(port: number): Promise<FakeService> {
  const fakeService = await startFakeService({ port })
  onTestFinished(() => fakeService.close())
  return fakeService
}

/** Returns a port outside the ephemeral range, so that no other program on this computer takes it by chance. */
function freePort(): Promise<number> {
  return until('a free port', async () => {
    const port = 20_000 + Math.floor(Math.random() * 10_000)
    return (await canListen({ host: '127.0.0.1', port })) && port
  })
}

/** Sends a request as a program with access to the socket does. */
function overSocket(socketPath: string, options: { path: string; headers: Record<string, string>; body?: string }) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const request = plainRequest(
      { socketPath, agent: false, method: options.body === undefined ? 'GET' : 'POST', ...options },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (piece: string) => {
          text += piece
        })
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
      },
    )
    request.on('error', reject)
    request.end(options.body)
  })
}

test('sends nothing to a foreign process on the service port and reconnects after restart', async () => {
  const real = service()
  await real.start()
  const first = real.target
  const agent = await createRunningAgent({ dataFolder: temporaryFolder('agent'), target: first })
  onTestFinished(() => agent.close())
  await until('the events of the service', () => agent.connection().state === 'connected')
  expect(await agent.send('/v1/sandboxes')).toMatchObject({ status: 200, json: { sandboxes: [] } })
  expect(await agent.client.call(getMe, {})).toMatchObject({ role: 'owner' })
  const stream = await openSocket(`${agent.origin}${eventsPath}`, { headers: { authorization: `Bearer ${first.key}` } })

  await real.kill()
  const foreign = await foreignServer(Number(new URL(first.url).port))
  await until('the stream has ended', () => stream.closed)
  const away = { status: 503, json: { code: 'service/unavailable' } }
  expect(await agent.send('/v1/sandboxes')).toMatchObject(away)
  expect(await agent.send('/v1/sandboxes', { body: { name: 'mine' } })).toMatchObject(away)
  expect(await agent.send('/v1/sandboxes', { key: first.key })).toMatchObject(away)
  await expect(agent.client.call(getMe, {})).rejects.toMatchObject({ code: 'service/unavailable' })
  const refused = await openSocket(`${agent.origin}${eventsPath}`, { headers: { 'x-api-key': first.key } })
  await until('the refused stream', () => refused.closed)
  expect(refused.closed?.code).toBe(streamClose.unavailable)
  await until('the events were asked for again', () => agent.connection().detail === 'The service isn’t running.')
  expect(foreign.requests).toEqual([])

  await real.start()
  const second = real.target
  expect([second.socketPath, second.url]).toEqual([first.socketPath, expect.not.stringMatching(first.url)])
  // The old socket already leads to the new service before its address is announced.
  await until('the events of the next service', () => agent.connection().state === 'connected')
  expect(await agent.send('/v1/sandboxes')).toMatchObject({ status: 200 })
  agent.connect(second)
  await until('the new address', () => agent.connection().url === second.url)
  expect(await agent.client.call(getMe, {})).toMatchObject({ role: 'owner' })
  expect(foreign.requests).toEqual([])
  // The foreign server was running during the whole test.
  expect((await fetch(`${foreign.url}/health`)).status).toBe(200)
  expect(foreign.requests).toHaveLength(1)
})

test('the window continues when another process occupies a configured port after a crash', async () => {
  const port = await freePort()
  const steward = await startSteward({ config: { service: { listen: `127.0.0.1:${port}` } } })
  onTestFinished(() => steward.close())
  expect(steward.serviceUrl).toBe(`http://127.0.0.1:${port}`)
  const { origin } = new URL(steward.url)
  const requestRuntimes = () => exchange(origin, '/v1/runtimes', { key: steward.ownerKey })
  expect(await requestRuntimes()).toMatchObject({ status: 200 }) // responded by the host, which is then running
  const before = steward.pids().service
  const foreign = await until('the port of the killed service', async () => {
    const { service: pid } = steward.pids()
    if (isAlive(pid)) process.kill(pid, 'SIGKILL')
    return foreignServer(port).catch(() => undefined) // not closed yet
  })
  const first = await requestRuntimes()
  await eventually(async () => {
    expect(await requestRuntimes()).toMatchObject({ status: 200, json: { runtimes: expect.anything() } })
  }, restartWithinMs)
  expect([200, 503]).toContain(first.status)
  expect(steward.pids().service).not.toBe(before)
  const wallet = evmWallet()
  const body = await wallet.signedMessage(origin)
  expect(await exchange(origin, '/v1/auth/wallets', { key: steward.ownerKey, body })).toMatchObject({ status: 201 })
  expect(foreign.requests).toEqual([])
})

test('the service enforces the same rules over its socket', async () => {
  const socketPath = join(temporaryFolder('socket'), 'service', 'service.sock')
  const nowMs = 1_800_000_000_000
  const real = await runningService({ host: 'none', privateSocketPath: socketPath, now: () => nowMs })
  onTestFinished(() => real.close())
  const { host } = new URL(real.url)
  const authorization = `Bearer ${real.key}`
  expect([statSync(dirname(socketPath)).mode & 0o777, statSync(socketPath).mode & 0o777]).toEqual([0o700, 0o600])
  const ask = (headers: Record<string, string>) => overSocket(socketPath, { path: '/v1/auth/me', headers })
  expect(await ask({ host, authorization })).toMatchObject({ status: 200 })
  expect(await ask({ host })).toMatchObject({ status: 401 })
  expect(await ask({ host: 'rebound.example', authorization })).toMatchObject({ status: 403 })
  expect(await ask({ host, authorization, origin: 'http://rebound.example' })).toMatchObject({ status: 403 })
  // Wrong keys on this socket count together with those on the port.
  for (let number = 0; number < 30; number++) {
    expect(await ask({ host, authorization: `Bearer sk_steward_${number}` })).toMatchObject({ status: 401 })
  }
  expect(await ask({ host, authorization: 'Bearer sk_steward_wrong' })).toMatchObject({ status: 429 })
  expect(await real.send('/v1/auth/me', { key: 'sk_steward_wrong' })).toMatchObject({ status: 429 })
  expect(await ask({ host, authorization })).toMatchObject({ status: 200 })
  // Sign-in works only for the address of the service, and not for another address that a caller claims.
  const link = async (claimed: string) => {
    const wallet = evmWallet()
    const { json } = await real.send('/v1/auth/nonce', { method: 'POST' })
    const fields = { address: wallet.address, nonce: json.nonce, issuedAt: new Date(nowMs) }
    const message = siweMessage(`http://${claimed}`, fields)
    const signed = { message, signature: await wallet.sign(message), chain_type: 'evm' }
    return overSocket(socketPath, {
      path: '/v1/auth/wallets',
      body: JSON.stringify(signed),
      headers: { host: claimed, authorization, 'content-type': 'application/json' },
    })
  }
  expect(await link(host)).toMatchObject({ status: 201 })
  expect(await link('localhost:1')).toMatchObject({ status: 400, text: expect.stringContaining('auth/verification') })
})

test('the socket accepts plain requests when the port uses TLS', async () => {
  const socketPath = join(temporaryFolder('socket'), 'service.sock')
  const real = await runningService({ host: 'none', privateSocketPath: socketPath, tls: testTls })
  onTestFinished(() => real.close())
  const headers = { host: new URL(real.url).host, authorization: `Bearer ${real.key}` }
  expect(real.url).toMatch(/^https:/)
  expect(await overSocket(socketPath, { path: '/v1/auth/me', headers })).toMatchObject({ status: 200 })
})

test('preserves a socket in use or a foreign file and names it', async () => {
  const folder = temporaryFolder('socket')
  const privateSocketPath = join(folder, 'service.sock')
  const first = await runningService({ host: 'none', privateSocketPath })
  await expect(runningService({ host: 'none', privateSocketPath })).rejects.toMatchObject({
    code: 'data/in-use',
    message: `Another Steward service is already listening at ${privateSocketPath}.`,
  })
  await first.close()
  expect(existsSync(privateSocketPath)).toBe(false)
  writeFileSync(privateSocketPath, 'kept')
  await expect(runningService({ host: 'none', privateSocketPath })).rejects.toMatchObject({ code: 'data/unusable' })
  expect(readFileSync(privateSocketPath, 'utf8')).toBe('kept')
})

test('the agent sends no request to a socket in another user’s folder', async (context) => {
  if (process.getuid?.() !== 0) return context.skip('only root can give a folder to another user')
  const folder = temporaryFolder('socket')
  const foreign = await startFakeService({ socketPath: join(folder, 'service.sock') })
  onTestFinished(() => foreign.close())
  chownSync(folder, 65_534, 65_534)
  const target = { url: 'http://127.0.0.1:1', key: 'sk_steward_owner', certificate: undefined }
  const agent = await createRunningAgent({
    dataFolder: temporaryFolder('agent'),
    target: { ...target, socketPath: join(folder, 'service.sock') },
  })
  onTestFinished(() => agent.close())
  const away = { status: 503, json: { code: 'service/unavailable' } }
  expect(await agent.send('/v1/sandboxes')).toMatchObject(away)
  await expect(agent.client.call(getMe, {})).rejects.toMatchObject({ code: 'service/unavailable' })
  const refused = await openSocket(`${agent.origin}${eventsPath}`, { headers: { 'x-api-key': target.key } })
  await until('the refused stream', () => refused.closed)
  await until('the reason', () => agent.connection().detail?.includes('belongs to another user'))
  expect(foreign.requests).toEqual([])
})
