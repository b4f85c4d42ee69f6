import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { isPublicAddress } from '#platform/net/publicAddress.ts'
import { testTls } from '#test/support/tls/tlsFiles.ts'
import { createImageFetcher } from './fetchedImages.ts'

test.each([
  '127.0.0.1',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '::1',
  '::',
  'fe80::1',
  'fc00::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '168.63.129.16',
  '192.0.2.1',
  '198.51.100.1',
  '203.0.113.1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  '2001:db8::1',
  'ff02::1',
  'localhost',
  '',
])('%s is not a public address', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

test.each(['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111'])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const server = createServer(testTls, (request, response) => {
  if (request.url === '/cat.png') response.end(png)
  else if (request.url === '/page') response.end('<html>')
  else if (request.url === '/huge') response.end(Buffer.concat([png, Buffer.alloc(6 * 1024 * 1024)]))
  else if (request.url === '/inside') response.writeHead(302, { location: 'https://169.254.169.254/meta' }).end()
  else if (request.url === '/plain') response.writeHead(302, { location: 'http://localhost/cat.png' }).end()
  else if (request.url === '/round') response.writeHead(302, { location: '/round' }).end()
  else response.writeHead(404).end()
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
afterAll(() => void server.close())

const signal = new AbortController().signal
/** Treats the server of this test as a public address. */
const fetchImage = createImageFetcher({
  isAllowed: (address) => address === '127.0.0.1' || isPublicAddress(address),
  ca: testTls.cert,
})

test('detects the media type of an image from its bytes', async () => {
  expect(await fetchImage(`https://localhost:${port}/cat.png`, signal)).toEqual({
    kind: 'data',
    mediaType: 'image/png',
    base64: png.toString('base64'),
  })
})

test.each([
  ['/page', /not a PNG, JPEG, GIF or WebP/],
  ['/huge', /larger than 5 MB/],
  ['/inside', /not public/],
  ['/plain', /Only https/],
  ['/round', /Too many redirects/],
  ['/nothing', /status 404/],
])('%s is refused', async (path, message) => {
  await expect(fetchImage(`https://localhost:${port}${path}`, signal)).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching(message),
  })
})

test.each([
  ['https://localhost:1/cat.png', /private address/],
  ['https://127.0.0.1/cat.png', /not public/],
  ['https://[::1]/cat.png', /not public/],
  ['https://0x7f.1/cat.png', /not public/],
  ['https://2130706433/cat.png', /not public/],
])('%s does not reach this computer', async (url, message) => {
  await expect(createImageFetcher()(url, signal)).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching(message),
  })
})
