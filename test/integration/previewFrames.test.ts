import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/assertions/eventually.ts'
import { openBrowser } from '../support/clients/browser.ts'
import { runningService, type TestService } from '../support/processes/runningService.ts'

/** A private port in a frame of one page, beside a page of another program. Browsers treat both as the same site. */
const script = readFileSync(new URL('../support/processes/portServer.py', import.meta.url), 'utf8')

let service: TestService
let browser: Browser
let window: Page
let otherPage: Page
let port: string
let url: string
const pages: Server[] = []

beforeAll(async () => {
  service = await runningService()
  const { json } = await service.send('/v1/sandboxes', { body: { network: 'none' } })
  const sandbox = `/v1/sandboxes/${json.id}`
  port = `${sandbox}/ports/8000`
  await service.send(`${sandbox}/files`, { body: { path: '/root/server.py', content: script } })
  const command = 'setsid python3 /root/server.py 8000 framed </dev/null >/tmp/log 2>&1 &'
  await service.send(`${sandbox}/exec`, { body: { command } })
  const exposed = await service.send(`${sandbox}/ports/expose`, { body: { port: 8000, visibility: 'private' } })
  url = exposed.json.url.replace(/\/$/, '')
  browser = await openBrowser()
  const context = await browser.newContext()
  ;[window, otherPage] = [await context.newPage(), await context.newPage()]
  await window.goto(await startPage())
  await otherPage.goto(await startPage())
  const listening = () => service.send(`${sandbox}/ports/listening`)
  await until('the server to listen', async () => (await listening()).json.ports.includes(8000))
})
afterAll(async () => {
  await browser?.close()
  for (const page of pages) page.close()
  await service?.close()
})

async function startPage(): Promise<string> {
  const server = createServer((_, answer) => answer.setHeader('content-type', 'text/html').end('<p>Page</p>'))
  pages.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const getOrigin = (page: Page): string => new URL(page.url()).origin

async function createAddress(origin: string): Promise<string> {
  const { status, json, text } = await service.send(`${port}/token?frame_origin=${origin}`, { method: 'POST' })
  expect(status, text).toBe(200)
  expect(json.expires_in_seconds).toBe(60)
  return json.open_url
}

/** @returns the first response of the port's page `/` */
async function frame(page: Page, address: string): Promise<{ status: number; policy: string | undefined }> {
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.url() === `${url}/`),
    page.evaluate((src) => {
      const element = document.createElement('iframe')
      element.src = src
      document.body.replaceChildren(element)
    }, address),
  ])
  return { status: answer.status(), policy: (await answer.allHeaders())['content-security-policy'] }
}

const readFrame = (page: Page) => page.frameLocator('iframe').locator('body').textContent()

test('only the page that the token was created for shows the port', async () => {
  const address = await createAddress(getOrigin(window))
  expect(await frame(window, address)).toEqual({
    status: 200,
    policy: `frame-ancestors 'self' ${getOrigin(window)}`,
  })
  await until('the page of the port', async () => (await readFrame(window))?.includes('framed') === true)

  expect((await frame(otherPage, `${url}/`)).status).toBe(401)
  const fetched = otherPage.waitForResponse((response) => response.url() === `${url}/secret`)
  await otherPage.evaluate(
    (to) => void fetch(to, { mode: 'no-cors', credentials: 'include' }).catch(() => {}),
    `${url}/secret`,
  )
  expect((await fetched).status()).toBe(401)
})

test('accepts a token only once', async () => {
  const address = await createAddress(getOrigin(window))
  expect((await frame(window, address)).status).toBe(200)
  const context = await browser.newContext()
  const elsewhere = await context.newPage()
  await elsewhere.goto(getOrigin(window))
  expect((await frame(elsewhere, address)).status).toBe(401)
  await context.close()
})

test('a token used by another page shows nothing', async () => {
  await frame(otherPage, await createAddress(getOrigin(window)))
  const [, inner] = otherPage.frames()
  await until('the browser to refuse the frame', () => inner?.url().startsWith('chrome-error://') === true)
})

test.each(['null', '*', 'http://a b', "http://a.example; script-src 'none'", 'javascript:1', 'http://a.example/path'])(
  'rejects a token request for the frame origin %s',
  async (origin) => {
    const { status } = await service.send(`${port}/token?frame_origin=${encodeURIComponent(origin)}`, {
      method: 'POST',
    })
    expect(status).toBe(400)
  },
)
