import { once } from 'node:events'
import { expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { createOffer } from '#test/support/fakes/hostileSeller.ts'
import { discoverEndpoints } from './discovery.ts'
import type { Seller } from './seller.ts'

const { signal } = new AbortController()
const origin = 'https://shop.example'

/** Responds with 404 to paths that `pages` does not contain. */
function createSite(pages: Readonly<Record<string, { status?: number; body: string }>>) {
  const requests: string[] = []
  const seller: Seller = {
    async ask({ url }) {
      requests.push(url)
      const page = pages[url.slice(origin.length)]
      return {
        status: page ? (page.status ?? 200) : 404,
        headers: {},
        body: Buffer.from(page?.body ?? ''),
        truncated: false,
      }
    },
    close() {},
  }
  return { asked: requests, find: (url = `${origin}/report`) => discoverEndpoints(seller, new URL(url), signal) }
}

test('uses the first source with endpoints and skips the rest', async () => {
  const list = {
    resources: ['/a', { resource: `${origin}/b`, method: 'post', description: 'B\u202e', accepts: [createOffer()] }],
  }
  const site = createSite({ '/.well-known/x402': { body: JSON.stringify(list) } })
  const endpoints = await site.find()
  expect(endpoints).toMatchObject({
    source: 'well-known',
    source_url: `${origin}/.well-known/x402`,
    endpoints: [
      { url: `${origin}/a`, method: null, offers: [] },
      { url: `${origin}/b`, method: 'POST', description: 'B', offers: [{ amount_micro_usd: 10_000, payable: true }] },
    ],
  })
  expect(site.asked).toHaveLength(1)
})

test.each([
  [
    'openapi',
    '/openapi.json',
    {
      body: JSON.stringify({
        paths: { '/r': { get: { summary: 'R', responses: { 402: {} } }, put: { responses: {} } } },
      }),
    },
    { url: `${origin}/r`, method: 'GET', description: 'R' },
  ],
  [
    'probe',
    '/report',
    { status: 402, body: JSON.stringify({ x402Version: 1, accepts: [createOffer()] }) },
    { url: `${origin}/report`, method: 'GET' },
  ],
  ['llms', '/llms.txt', { body: '# Us\n- [Report](/r2) is paid by x402\n- [Free](/f)' }, { url: `${origin}/r2` }],
])('finds endpoints by %s in list order', async (source, path, page, endpoint) => {
  const endpoints = await createSite({ [path]: page }).find()
  expect(endpoints).toMatchObject({ source, endpoints: [endpoint] })
})

test.each([
  ['no JSON', '{'],
  [
    'other addresses',
    JSON.stringify({ resources: ['javascript:alert(1)', 'file:///etc/passwd', 'https://u:p@evil.example/'] }),
  ],
  ['nothing but depth', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
])('lists no endpoints for a site that returns %s', async (_, body) => {
  const endpoints = await createSite({ '/.well-known/x402': { body } }).find()
  expect(endpoints).toMatchObject({ source: null, endpoints: [] })
  expect(endpoints.tried).toHaveLength(5)
})

test('truncates an endless list to 100 endpoints', async () => {
  const resources = Array.from({ length: 20_000 }, (_, index) => `/r${index}`)
  const endpoints = await createSite({ '/.well-known/x402': { body: JSON.stringify({ resources }) } }).find()
  expect(endpoints.endpoints.length).toBeLessThanOrEqual(100)
})

test('reports a site that does not respond', async () => {
  const silent: Seller = {
    ask: () => Promise.reject(new AppError('purchase/seller', 'shop.example did not respond.')),
    close() {},
  }
  await expect(discoverEndpoints(silent, new URL(origin), signal)).rejects.toThrow('shop.example did not respond.')
})

test('ignores deeply nested values and lists offers only where present', async () => {
  const createListing = (path: string) => ({ url: path, accepts: [createOffer()] })
  const nest = (value: object, levels: number): object => (levels === 0 ? value : { in: nest(value, levels - 1) })
  const document = {
    a: nest(createListing('/near'), 20),
    b: nest(createListing('/deep'), 40),
    c: { url: '/free', in: 'x' },
  }
  const endpoints = await createSite({ '/.well-known/x402': { body: JSON.stringify(document) } }).find()
  expect(endpoints.endpoints.map(({ url, offers }) => [url, offers.length])).toEqual([
    [`${origin}/free`, 0],
    [`${origin}/near`, 1],
  ])
})

test('an aborted discovery rejects with its reason and sends no further request', async () => {
  const stopping = new AbortController()
  const requests: string[] = []
  const slow: Seller = {
    async ask({ url }, signal) {
      requests.push(url)
      if (signal && !signal.aborted) await once(signal, 'abort')
      throw new AppError('purchase/seller', 'shop.example did not respond.')
    },
    close() {},
  }
  const discovery = discoverEndpoints(slow, new URL(origin), stopping.signal)
  const stopped = new AppError('intent/stopped', 'Everything is stopped.')
  stopping.abort(stopped)
  await expect(discovery).rejects.toBe(stopped)
  expect(requests).toEqual([`${origin}/.well-known/x402`])
})
