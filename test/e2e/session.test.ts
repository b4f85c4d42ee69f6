import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openWindow } from '../support/clients/browser.ts'
import { type StewardInBrowser, stewardInBrowser } from './pages/stewardInBrowser.ts'

let app: StewardInBrowser
let origin: string

beforeAll(async () => {
  app = await stewardInBrowser()
  origin = new URL(app.steward.url).origin
})
afterAll(() => app?.close())

test('removes the token from the URL and hides the key from the page', async () => {
  const window = await app.window()
  // The window may have opened its first section already.
  expect([`${origin}/`, `${origin}/#/terminals`]).toContain(window.page.url())
  const readable: unknown = await window.page.evaluate(
    'JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])',
  )
  expect(readable).not.toMatch(/sk_steward_|steward_session/)
})

test('explains how to get a session when the URL was used before', async () => {
  const opened = await openWindow(app.browser)
  onTestFinished(() => opened.close())
  await opened.page.goto(app.steward.url)
  await opened.page.getByRole('heading', { name: 'You’re signed out' }).waitFor()
  await opened.page.getByText('npm start').waitFor()
  expect(opened.page.url()).not.toContain('token')
})

test('rejects host names that were rebound to the server', async () => {
  const opened = await openWindow(app.browser)
  onTestFinished(() => opened.close())
  const { port } = new URL(origin)
  const reply = await opened.page.goto(`http://rebound.localhost:${port}/`)
  expect(reply?.status()).toBe(403)
  expect(await reply?.json()).toMatchObject({ code: 'auth/host', error: expect.stringContaining('rebound.localhost') })
  expect(await statusFor({ host: 'evil.example' })).toBe(403)
})

test('does not let other pages use the session', async () => {
  const window = await app.window()
  await window.page.goto(await foreignPage())
  const read: unknown = await window.page.evaluate(
    `fetch('${origin}/v1/sandboxes', { credentials: 'include' }).then(() => 'read', () => 'refused')`,
  )
  expect(read).toBe('refused')
  const socket = (path: string) =>
    window.page.evaluate(
      `new Promise((resolve) => {
        const socket = new WebSocket('${origin.replace('http', 'ws')}${path}')
        socket.onopen = () => resolve('open')
        socket.onerror = () => resolve('refused')
      })`,
    )
  expect(await socket('/local/events')).toBe('refused')
  expect(await socket('/v1/events')).toBe('refused')
  const answer = window.page.waitForResponse((reply) => reply.url() === `${origin}/v1/sandboxes`)
  await window.page.getByRole('button', { name: 'Send' }).click()
  const reply = await answer
  expect({ status: reply.status(), body: await reply.json() }).toMatchObject({
    status: 403,
    body: { code: 'auth/origin' },
  })
})

test('sends another local server nothing that opens the session', async () => {
  const window = await app.window()
  const received: IncomingHttpHeaders[] = []
  await window.page.goto(await foreignPage((headers) => received.push(headers)))
  const cookie = received.find((headers) => headers.cookie?.includes('steward_session'))?.cookie
  if (cookie === undefined) throw new Error('Browsers no longer send cookies to other ports: one secret would do.')
  const stored: unknown = await window.page.evaluate('JSON.stringify({ ...localStorage })')
  expect(stored).not.toContain('steward.window-key')
  expect(await statusFor({ cookie })).toBe(401)
})

test('sends a content security policy that runs only the scripts of the window', async () => {
  const window = await app.window()
  const reply = await window.page.reload()
  const policy = reply?.headers()['content-security-policy'] ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("script-src 'self';")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(reply?.headers()['access-control-allow-origin']).toBeUndefined()
})

/**
 * Serves a page from another server on this computer. For cookies it is the same site, so only the guard protects the
 * session.
 */
async function foreignPage(onRequest: (headers: IncomingHttpHeaders) => void = () => {}): Promise<string> {
  const form = `<form method="post" action="${origin}/v1/sandboxes"><button>Send</button></form>`
  const server = createServer(({ headers }, response) => {
    onRequest(headers)
    response.setHeader('content-type', 'text/html').end(form)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve()).closeAllConnections()))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/` // listens on TCP
}

function statusFor(headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(`${origin}/v1/sandboxes`, { headers }, (reply) => {
      reply.resume().on('end', () => resolve(reply.statusCode))
    })
      .on('error', reject)
      .end()
  })
}
