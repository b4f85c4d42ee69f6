import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { runRdap } from '#commands/rdapCommand.ts'
import { readRdapBootstrap } from '#service/domains/rdap/rdapBootstrap.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

/** The list of RDAP servers, from a server that may send any response. */
let server: Server
let answer: { status: number; body: string }
let dataFolder: string

beforeAll(async () => {
  server = createServer((_, response) => response.writeHead(answer.status).end(answer.body))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())))
beforeEach(() => {
  dataFolder = temporaryFolder('rdap')
})

const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/dns.json`
const list = (change: object = {}, count = 150) => ({
  version: '1.0',
  publication: '2026-11-01T00:00:00Z',
  services: [
    [Array.from({ length: count }, (_, index) => `tld${index}`), ['http://old.example/', 'https://rdap.example/v1']],
    [['com'], ['https://rdap.verisign.com/com/v1/']],
  ],
  ...change,
})
const update = (body: unknown, status = 200) => {
  answer = { status, body: typeof body === 'string' ? body : JSON.stringify(body) }
  return runRdap({ rdap: url(), dataFolder, json: true })
}
const file = () => join(dataFolder, 'rdap.json')

test('stores a list and uses its servers', async () => {
  expect(await update(list())).toBe(0)
  const servers = readRdapBootstrap(file())
  expect([servers('a.com'), servers('a.tld7'), servers('a.nothing')]).toEqual([
    'https://rdap.verisign.com/com/v1/',
    'https://rdap.example/v1/',
    undefined,
  ])
})

test.each<[string, unknown, number]>([
  ['a page', '<html>Sorry</html>', 200],
  ['an error', list(), 503],
  ['a redirect', list(), 302],
  ['nothing', '', 200],
  ['a few names', list({}, 20), 200],
  ['no secure servers', list({ services: [[list().services[0]?.[0], ['http://rdap.example/']]] }), 200],
  ['names that are none', list({ services: [[['../../etc'], ['https://rdap.example/']]] }), 200],
  ['another format', list({ version: '2.0' }), 200],
  ['a day to come', list({ publication: '2199-01-01T00:00:00Z' }), 200],
  ['an older list', list({ publication: '2026-10-31T00:00:00Z' }), 200],
  ['more than it can be', JSON.stringify(list({ description: 'x'.repeat(5 * 1024 * 1024) })), 200],
])('%s is refused and the current list remains in use', async (_, body, status) => {
  await update(list())
  const before = readFileSync(file(), 'utf8')
  await expect(update(body, status)).rejects.toMatchObject({ code: 'rdap/list' })
  expect(readFileSync(file(), 'utf8')).toBe(before)
})

test('rejects an address without https before any request', async () => {
  await expect(runRdap({ rdap: 'http://data.iana.org/x', dataFolder, json: true })).rejects.toMatchObject({
    code: 'command/usage',
  })
  expect(existsSync(file())).toBe(false)
})
