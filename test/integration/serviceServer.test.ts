import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Agent, request as send } from 'undici'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { getHostSocketPath } from '#platform/net/hostSocket.ts'
import { until } from '../support/assertions/eventually.ts'
import { connectHost } from '../support/clients/hostClient.ts'
import { findMessage, openSocket } from '../support/clients/socketClient.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import {
  exchange,
  runningService,
  type TestService,
  type TestServiceOptions,
} from '../support/processes/runningService.ts'
import { noIpv6Loopback } from '../support/runner/ipv6Loopback.ts'
import { testTls } from '../support/tls/tlsFiles.ts'

/** The server: shutdown, TLS, pages, and input that is not HTTP. */
let open: TestService | undefined

async function startWith(options: TestServiceOptions): Promise<TestService> {
  open = await runningService(options)
  return open
}
afterEach(async () => {
  await open?.close()
  open = undefined
})

describe('service shutdown', () => {
  test('finishes requests in progress and notifies waiting clients', async () => {
    const service = await startWith({})
    const created = await service.send('/v1/sandboxes', { body: {} })
    expect(created.status, created.text).toBe(201)
    const sandbox = `/v1/sandboxes/${created.json.id}`
    const terminal = await service.send(`${sandbox}/pty`, { body: { command: 'cat' } })
    const watching = await openSocket(`${service.url}${sandbox}/pty/${terminal.json.session_id}/stream`, {
      headers: { authorization: service.key },
    })
    await findMessage(watching, { type: 'attached' })
    const command = 'echo begun > /tmp/begun; until [ -e /tmp/go ]; do sleep 0.05; done; echo finished'
    const working = service.send(`${sandbox}/exec`, { body: { command } })
    const polling = service.send(`${sandbox}/pty/${terminal.json.session_id}/read?since=0&wait_ms=60000`)
    await until('the command to run', async () => {
      const { json } = await service.send(`${sandbox}/files/read?path=/tmp/begun`)
      return json.content === 'begun\n'
    })
    const ending = service.restart()
    expect((await polling).json.code).toBe('service/unavailable')
    expect((await until('the stream to end', () => watching.closed)).code).toBe(1001)
    const host = await connectHost(getHostSocketPath(service.dataDir))
    await host.call('file.write', { sandboxId: created.json.id, path: '/tmp/go' }, Buffer.alloc(0))
    host.ipc.close()
    const { status, json } = await working
    expect([status, json.stdout]).toEqual([200, 'finished\n'])
    await ending
    expect((await service.send(sandbox)).json.status).toBe('running')
  })
})

test('a client disconnect ends a command unless an Idempotency-Key allows fetching its result later', async () => {
  const service = await startWith({})
  const { id } = (await service.send('/v1/sandboxes', { body: {} })).json
  const exec = `/v1/sandboxes/${id}/exec`
  const said = async (command: string) => (await service.send(exec, { body: { command } })).json.stdout
  const disconnect = async (command: string, headers: Record<string, string>) => {
    const leaving = new AbortController()
    const execution = fetch(`${service.url}${exec}`, {
      ...{ method: 'POST', body: JSON.stringify({ command }), signal: leaving.signal },
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json', ...headers },
    }).catch(() => {})
    await until('the command to run', async () => (await said('ls /tmp')).includes('begun'))
    leaving.abort()
    await execution
  }
  await disconnect('echo > /tmp/begun; sleep 3000', {})
  await until('the command to end', async () => (await said('pgrep -xf "sleep 300[0]"; rm -f /tmp/begun')) === '')

  const keyed = { 'idempotency-key': 'once' }
  const command = 'echo >> /tmp/begun; until [ -e /tmp/go ]; do sleep 0.05; done; echo finished'
  await disconnect(command, keyed)
  await said('touch /tmp/go')
  const again = await until('its result', async () => {
    const answer = await service.send(exec, { body: { command }, headers: keyed })
    return answer.status === 200 && answer
  })
  expect([again.json.stdout, await said('wc -l < /tmp/begun')]).toEqual(['finished\n', '1\n'])
})

test('serves https and wss with TLS and advertises it to browsers', async () => {
  const service = await startWith({ host: 'none', tls: testTls })
  expect(service.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
  const agent = new Agent({ connect: { rejectUnauthorized: false } })
  try {
    const answer = await send(`${service.url}/health`, { dispatcher: agent })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['strict-transport-security']).toBe('max-age=31536000')
    await answer.body.dump()
  } finally {
    await agent.close()
  }
  const headers = { authorization: service.key, origin: service.url }
  const socket = new WebSocket(`${service.url.replace(/^http/, 'ws')}/v1/events`, {
    rejectUnauthorized: false,
    headers,
  })
  const said = await new Promise<string>((resolve, reject) => {
    socket.once('message', (data: Buffer) => resolve(data.toString('utf8')))
    socket.once('error', reject)
  })
  expect(said).toBe('{"type":"ready"}')
  socket.terminate()
})

test.skipIf(noIpv6Loopback).each([
  ['http', {}],
  ['https', { tls: testTls }],
] as const)(
  'over %s listens on ::1 including WebSockets and closes open connections on shutdown',
  async (_, options) => {
    const service = await startWith({ host: 'none', ...options })
    const url = service.url.replace('127.0.0.1', '[::1]')
    const agent = new Agent({ connect: { rejectUnauthorized: false } })
    const headers = { authorization: service.key, origin: url }
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/events`, { rejectUnauthorized: false, headers })
    const ended = new Promise<number>((resolve) => socket.once('close', resolve))
    const firstMessage = new Promise((resolve) => socket.once('message', resolve))
    try {
      const answer = await send(`${url}/v1/auth/me`, { dispatcher: agent, headers })
      expect(answer.statusCode, await answer.body.text()).toBe(200)
      await firstMessage
      await service.close() // with an idle keep-alive connection and an open stream
      open = undefined
      expect(await ended).toBe(1001)
    } finally {
      socket.terminate()
      await agent.close()
    }
  },
)

test('rejects input that is not HTTP with one sentence and closes the connection', async () => {
  const service = await startWith({ host: 'none' })
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes.toString()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
    socket.write('nonsense\r\n\r\n')
  })
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(answer).toContain('"code":"request/malformed"')
})

describe('the terminal link page', () => {
  let folder: string

  beforeEach(() => {
    folder = temporaryFolder('pages')
    mkdirSync(join(folder, 'assets'))
    writeFileSync(join(folder, 'terminal.html'), '<!doctype html><title>Terminal</title>')
    writeFileSync(join(folder, 'assets', 'terminal-abc.js'), 'export {}')
    writeFileSync(join(folder, 'secret.js'), 'not for anyone')
  })

  test('needs no key and its policy blocks all external content', async () => {
    const service = await startWith({ host: 'none', pagesFolder: folder })
    const page = await exchange(service.url, `/terminal/${'a'.repeat(32)}`, { key: null })
    expect(page.status).toBe(200)
    expect(page.text).toContain('<title>Terminal</title>')
    const { host } = new URL(service.url)
    expect(page.headers['content-security-policy']).toContain(`connect-src 'self' ws://${host} wss://${host}`)
    expect(page.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'")
    for (const path of ['/terminal/assets/terminal-abc.js', '/assets/terminal-abc.js']) {
      const asset = await exchange(service.url, path, { key: null })
      expect(asset.text).toBe('export {}')
      expect(asset.headers).toMatchObject({
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=31536000, immutable',
      })
    }
  })

  test('never serves a file outside its folder', async () => {
    const service = await startWith({ host: 'none', pagesFolder: folder })
    for (const name of ['..%2fsecret.js', '%2e%2e%2fsecret.js', 'none.js', '..', 'terminal.html', '%00.js']) {
      const answer = await exchange(service.url, `/assets/${name}`, { key: null })
      expect(answer.status, name).toBe(404)
      expect(answer.text).not.toContain('not for anyone')
    }
  })

  test('is one plain sentence if it was not built', async () => {
    const service = await startWith({ host: 'none' })
    const page = await exchange(service.url, `/terminal/${'a'.repeat(32)}`, { key: null })
    expect(page.status).toBe(404)
    expect(page.text).toContain('This Steward does not serve pages.')
  })
})
