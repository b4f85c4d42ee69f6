import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createModelServerProbe, type ModelServerProbe } from './modelServerProbe.ts'

const servers: Server[] = []
let probe: ModelServerProbe

async function serving(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // the server listens on TCP
  return `http://127.0.0.1:${port}/v1`
}

async function probed(answer: RequestListener, options: { key?: string; withinMs?: number } = {}) {
  probe = createModelServerProbe()
  return probe.probe(await serving(answer), { withinMs: 10_000, ...options })
}

afterEach(async () => {
  probe?.close()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
})

test('reads model names without duplicates', async () => {
  const data = [{ id: 'llama3.2:3b' }, { id: 'llama3.2:3b' }, { id: 'qwen/qwen3-8b', owned_by: 'x' }]
  expect(await probed((_, answer) => answer.end(JSON.stringify({ object: 'list', data })))).toEqual({
    kind: 'models',
    models: ['llama3.2:3b', 'qwen/qwen3-8b'],
    prices: {},
  })
})

test('skips invalid model names', async () => {
  const data = [
    '<img src=x onerror=alert(1)>',
    '../../etc/passwd',
    'a\nb',
    '',
    'x'.repeat(200),
    '__proto__',
    'fine',
  ].map((id) => ({ id }))
  expect(await probed((_, answer) => answer.end(JSON.stringify({ data })))).toEqual({
    kind: 'models',
    models: ['fine'],
    prices: {},
  })
})

test('reads at most 200 names', async () => {
  const data = Array.from({ length: 5_000 }, (_, index) => ({ id: `m${index}` }))
  const read = await probed((_, answer) => answer.end(JSON.stringify({ data })))
  expect(read.kind === 'models' && read.models.length).toBe(200)
})

test.each([
  ['a page', '<!doctype html><title>My router</title>'],
  ['other JSON', '{"data":"none"}'],
  ['a list of other things', '{"data":[1,2,3]}'],
  ['deep JSON', '['.repeat(200_000)],
  ['nothing', ''],
])('rejects %s as a list of models', async (_, body) => {
  expect(await probed((_, answer) => answer.end(body))).toEqual({
    kind: 'nothing',
    why: 'does not respond with a list of models',
  })
})

test('closes an endless response', async () => {
  let isClosed = false
  const read = await probed((_, answer) => {
    answer.on('close', () => {
      isClosed = true
    })
    const more = (): void => {
      while (!answer.destroyed && answer.write('x'.repeat(64 * 1024)));
      if (!answer.destroyed) answer.once('drain', more)
    }
    more()
  })
  expect(read).toEqual({ kind: 'nothing', why: 'responds with more than a list of models' })
  await expect.poll(() => isClosed).toBe(true)
})

test('times out on a silent or slow server', async () => {
  expect(await probed(() => {}, { withinMs: 50 })).toEqual({ kind: 'nothing', why: 'does not respond within 0.05 s' })
  const dripping: RequestListener = (_, answer) => {
    const drip = setInterval(() => answer.write(' '), 5)
    answer.on('close', () => clearInterval(drip))
  }
  expect(await probed(dripping, { withinMs: 50 })).toMatchObject({ kind: 'nothing' })
})

test('does not follow a redirect or send the key there', async () => {
  const heard: string[] = []
  const elsewhere = await serving((request, answer) => {
    heard.push(String(request.headers.authorization))
    answer.end('{"data":[]}')
  })
  const redirect: RequestListener = (_, answer) => answer.writeHead(302, { location: `${elsewhere}/models` }).end()
  expect(await probed(redirect, { key: 'sk-secret' })).toEqual({
    kind: 'nothing',
    why: 'responds with a redirect, which Steward does not follow',
  })
  expect(heard).toEqual([])
})

test('reports a required key without quoting the server', async () => {
  const quoting: RequestListener = (request, answer) =>
    answer.writeHead(401).end(`wrong key ${request.headers.authorization}`)
  expect(await probed(quoting, { key: 'sk-secret' })).toEqual({ kind: 'needs-key' })
  const failing: RequestListener = (_, answer) => answer.writeHead(500).end('sk-secret')
  expect(JSON.stringify(await probed(failing, { key: 'sk-secret' }))).not.toContain('sk-secret')
})
