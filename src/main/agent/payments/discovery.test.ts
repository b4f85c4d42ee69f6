import { expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { offered } from '#test/support/hostileSeller.ts'
import { discovered } from './discovery.ts'
import type { Seller } from './seller.ts'

const { signal } = new AbortController()
const origin = 'https://shop.example'

/** Answers 404 where nothing is given. */
function siteOf(pages: Readonly<Record<string, { status?: number; body: string }>>) {
  const asked: string[] = []
  const seller: Seller = {
    async ask({ url }) {
      asked.push(url)
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
  return { asked, find: (url = `${origin}/report`) => discovered(seller, new URL(url), signal) }
}

test('the first place that tells is taken, and nothing after it is asked', async () => {
  const list = {
    resources: ['/a', { resource: `${origin}/b`, method: 'post', description: 'B\u202e', accepts: [offered()] }],
  }
  const site = siteOf({ '/.well-known/x402': { body: JSON.stringify(list) } })
  const found = await site.find()
  expect(found).toMatchObject({
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
    { status: 402, body: JSON.stringify({ x402Version: 1, accepts: [offered()] }) },
    { url: `${origin}/report`, method: 'GET' },
  ],
  ['llms', '/llms.txt', { body: '# Us\n- [Report](/r2) is paid by x402\n- [Free](/f)' }, { url: `${origin}/r2` }],
])('it is found by %s, in the order of the list', async (source, path, page, endpoint) => {
  const found = await siteOf({ [path]: page }).find()
  expect(found).toMatchObject({ source, endpoints: [endpoint] })
})

test.each([
  ['no JSON', '{'],
  [
    'other addresses',
    JSON.stringify({ resources: ['javascript:alert(1)', 'file:///etc/passwd', 'https://u:p@evil.example/'] }),
  ],
  ['nothing but depth', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
])('a site that tells %s sells nothing that is shown', async (_, body) => {
  const found = await siteOf({ '/.well-known/x402': { body } }).find()
  expect(found).toMatchObject({ source: null, endpoints: [] })
  expect(found.tried).toHaveLength(5)
})

test('a list without end is cut', async () => {
  const resources = Array.from({ length: 20_000 }, (_, at) => `/r${at}`)
  const found = await siteOf({ '/.well-known/x402': { body: JSON.stringify({ resources }) } }).find()
  expect(found.endpoints.length).toBeLessThanOrEqual(100)
})

test('reports a site that does not respond', async () => {
  const silent: Seller = {
    ask: () => Promise.reject(new AppError('payment/seller', 'shop.example gave no answer.')),
    close() {},
  }
  await expect(discovered(silent, new URL(origin), signal)).rejects.toThrow('shop.example gave no answer.')
})

test('values that are nested too deeply are not looked at, and offers only where there are some', async () => {
  const sold = (path: string) => ({ url: path, accepts: [offered()] })
  const nested = (value: object, levels: number): object => (levels === 0 ? value : { in: nested(value, levels - 1) })
  const document = { a: nested(sold('/near'), 20), b: nested(sold('/deep'), 40), c: { url: '/free', in: 'x' } }
  const found = await siteOf({ '/.well-known/x402': { body: JSON.stringify(document) } }).find()
  expect(found.endpoints.map(({ url, offers }) => [url, offers.length])).toEqual([
    [`${origin}/free`, 0],
    [`${origin}/near`, 1],
  ])
})
