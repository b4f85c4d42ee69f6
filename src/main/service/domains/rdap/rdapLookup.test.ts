import { writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createHttpClient } from '#platform/http/httpClient.ts'
import { installFolder } from '#platform/program/programFile.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { readRdapBootstrap } from './rdapBootstrap.ts'
import { createRdapLookup, type RdapLookup } from './rdapLookup.ts'

/** Uses real HTTP, limited to this computer. */
let requests: string[]
let nowMs = 0
let lookup: RdapLookup
const http = createHttpClient({ maxAnswerBytes: 10_000 })

const json = (response: ServerResponse, status: number, value: unknown) =>
  void response.writeHead(status, { 'content-type': 'application/rdap+json' }).end(JSON.stringify(value))
/** Registry responses by the first label of the name. */
const answers: Readonly<Record<string, (response: ServerResponse, name: string) => void>> = {
  taken: (response, name) => json(response, 200, { objectClassName: 'domain', ldhName: name.toUpperCase() }),
  free: (response) => json(response, 404, { errorCode: 404, title: 'Not Found' }),
  empty: (response) => void response.writeHead(404).end(),
  portal: (response) => void response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>No such page</h1>'),
  other: (response) => json(response, 200, { objectClassName: 'domain', ldhName: 'another.com' }),
  page: (response) => void response.writeHead(200).end('<html>Welcome</html>'),
  moved: (response) => void response.writeHead(302, { location: '/domain/free.com' }).end(),
  busy: (response) => json(response, 429, { errorCode: 429 }),
  broken: (response) => json(response, 500, {}),
  teapot: (response) => json(response, 400, { errorCode: 404 }),
  nested: (response) => json(response, 404, { errorCode: 500 }),
  huge: (response) => void response.writeHead(404).end(' '.repeat(20_000)),
  cut: (response) => void response.destroy(),
}
const server = createServer((request, response) => {
  const name = request.url?.replace('/domain/', '') ?? ''
  requests.push(name)
  answers[name.split(/[-.]/)[0] ?? '']?.(response, name)
})
const others = createServer((_, response) => json(response, 404, { errorCode: 404 }))

beforeAll(async () => {
  for (const target of [server, others]) await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve))
})
afterAll(() => {
  http.close()
  for (const target of [server, others]) target.close()
})
beforeEach(() => {
  requests = []
  nowMs += 3_600_000
  const file = join(temporaryFolder('rdap'), 'dns.json')
  const [ownUrl, otherUrl] = [server, others].map(
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
  )
  const services = [
    [
      ['com', 'co.uk'],
      ['http://rdap.example/', ownUrl],
    ],
    [['uk', 'net'], [otherUrl]],
    [['org'], ['http://rdap.example/']],
  ]
  writeFileSync(file, JSON.stringify({ version: '1.0', services }))
  lookup = createRdapLookup({ bootstrap: readRdapBootstrap(file), http, now: () => nowMs })
})

test('only a 404 from the registry server itself marks a name available', async () => {
  const names = Object.keys(answers).map((word) => `${word}.com`)
  const results = await lookup.check(names)
  expect(Object.fromEntries(results.map(({ name, status }) => [name, status]))).toEqual({
    ...Object.fromEntries(names.map((name) => [name, 'unknown'])),
    ...{ 'taken.com': 'taken', 'free.com': 'available', 'empty.com': 'available' },
  })
  expect(results.every(({ price, premium }) => price === null && !premium)).toBe(true)
})

test('does not follow redirects', async () => {
  await lookup.check(['moved.com'])
  expect(requests).toEqual(['moved.com'])
})

test('queries the server of the longest suffix and only over TLS', async () => {
  const results = await lookup.check(['taken.co.uk', 'x.uk', 'free.org', 'free.example'])
  expect(results.map(({ status }) => status)).toEqual(['taken', 'available', 'unknown', 'unknown'])
  expect(requests).toEqual(['taken.co.uk'])
})

test('caches a response for five minutes but not a failed lookup', async () => {
  await lookup.check(['free.com', 'broken.com'])
  nowMs += 4 * 60_000
  await lookup.check(['free.com', 'broken.com'])
  nowMs += 2 * 60_000
  await lookup.check(['free.com'])
  expect(requests.filter((name) => name === 'free.com')).toHaveLength(2)
  expect(requests.filter((name) => name === 'broken.com')).toHaveLength(2)
})

test('checks many names a few at a time and returns them in order', async () => {
  const names = Array.from({ length: 40 }, (_, index) => (index % 2 ? `taken-${index}.com` : `free-${index}.com`))
  const results = await lookup.check(names)
  expect(results.map(({ name, status }) => [name, status])).toEqual(
    names.map((name, index) => [name, index % 2 ? 'taken' : 'available']),
  )
})

test('the bundled server list is readable and uses TLS', () => {
  const bootstrap = readRdapBootstrap(join(installFolder, 'resources', 'rdap.json'))
  for (const tld of ['com', 'net', 'org', 'dev', 'ai', 'xyz'])
    expect(bootstrap(`example.${tld}`)).toMatch(/^https:\/\//)
  expect(bootstrap('example.nothing')).toBeUndefined()
})

test('an invalid server list is reported', () => {
  const file = join(temporaryFolder('rdap'), 'dns.json')
  writeFileSync(file, '{"services": "none"}')
  expect(() => readRdapBootstrap(file)).toThrow(expect.objectContaining({ code: 'config/invalid' }))
})
