import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { createServer } from 'node:tls'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/assertions/eventually.ts'
import { openBrowser } from '../support/clients/browser.ts'
import { exchange, runningService, type TestService } from '../support/processes/runningService.ts'
import { testTls } from '../support/tls/tlsFiles.ts'

/** Hosted service whose previews are all one site to browsers, because no public suffix separates them. */
const sandboxHost = 'prev.steward.test'
const script = readFileSync(new URL('../support/processes/portServer.py', import.meta.url), 'utf8')

let service: TestService
let proxy: Awaited<ReturnType<typeof startProxy>>
let browser: Browser
let context: BrowserContext
/** Page on the attacker's public port, and the victim's private port, opened in the browser. */
let attacker: Page
let victim: Page
let victimUrl: string

beforeAll(async () => {
  service = await runningService({ sandboxHost, insecureBehindProxy: true })
  proxy = await startProxy(Number(new URL(service.url).port))
  const [attackerId, victimId] = [await sandboxWith('public'), await sandboxWith('private')]
  browser = await openBrowser()
  context = await browser.newContext({ ignoreHTTPSErrors: true })
  victimUrl = getUrl(victimId)
  victim = await context.newPage()
  const { json } = await service.send(`/v1/sandboxes/${victimId}/ports/8000/token`, { method: 'POST' })
  await victim.goto(`${victimUrl}/.steward/open#token=${json.token}`)
  await victim.waitForURL(`${victimUrl}/`)
  attacker = await context.newPage()
  await attacker.goto(`${getUrl(attackerId)}/`)
})
afterAll(async () => {
  await browser?.close()
  proxy?.close()
  await service?.close()
})

const getHost = (id: string): string => `8000-${id}.${sandboxHost}`
const getUrl = (id: string): string => `https://${getHost(id)}:${proxy.port}`

async function sandboxWith(visibility: 'public' | 'private'): Promise<string> {
  const { json } = await service.send('/v1/sandboxes', { body: { name: visibility, network: 'none' } })
  const sandboxPath = `/v1/sandboxes/${json.id}`
  await service.send(`${sandboxPath}/files`, { body: { path: '/root/server.py', content: script } })
  const command = `setsid python3 /root/server.py 8000 ${visibility} </dev/null >/tmp/log 2>&1 &`
  await service.send(`${sandboxPath}/exec`, { body: { command } })
  await service.send(`${sandboxPath}/ports/expose`, { body: { port: 8000, visibility } })
  const headers = { host: getHost(json.id), authorization: `Bearer ${service.key}` }
  await until('the server to answer', async () => (await exchange(service.url, '/', { headers })).status === 200)
  return json.id
}

/** Terminates TLS like an operator's proxy. */
async function startProxy(to: number): Promise<{ port: number; close(): void }> {
  const open = new Set<Socket>()
  const server = createServer(testTls, (outside) => {
    const inside = connect(to, '127.0.0.1')
    for (const [source, destination] of [
      [outside, inside],
      [inside, outside],
    ] as const) {
      open.add(source)
      source.on('error', () => destination.destroy()).on('close', () => open.delete(source) && destination.destroy())
      source.pipe(destination)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    close() {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}

/** @returns the first message, or `refused` */
const socketFrom = (page: Page): Promise<string> =>
  page.evaluate(
    (url) =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(url)
        socket.onopen = () => socket.send('hello')
        socket.onmessage = ({ data }) => resolve(String(data))
        socket.onclose = () => resolve('refused')
      }),
    `${victimUrl.replace('https', 'wss')}/socket`,
  )

/** Collects the statuses of requests to the victim's address while the work runs. */
async function statusesDuring(page: Page, work: () => Promise<unknown>): Promise<number[]> {
  const statuses: number[] = []
  page.on('response', (response) => {
    if (response.url().startsWith(victimUrl)) statuses.push(response.status())
  })
  await work()
  await until('an answer', () => statuses.length > 0)
  page.removeAllListeners('response')
  return statuses
}

test('reads and writes from its own page, including over a WebSocket', async () => {
  expect(JSON.parse((await victim.textContent('body')) ?? '')).toMatchObject({ name: 'private', path: '/' })
  expect(await socketFrom(victim)).toBe('hello')
  const echo = await victim.evaluate(async () => (await fetch('/note', { method: 'POST', body: 'own' })).text())
  expect(echo).toBe('own')
})

test('refuses a WebSocket from the page of another sandbox', async () => {
  expect(await socketFrom(attacker)).toBe('refused')
})

test('refuses writes, reads and frames from that page despite the browser cookie', async () => {
  const send = (init: { method: string; body?: string }) =>
    attacker.evaluate(
      async ([url, init]) => void (await fetch(url, { mode: 'no-cors', credentials: 'include', ...init })),
      [`${victimUrl}/delete`, init] as const,
    )
  expect(await statusesDuring(attacker, () => send({ method: 'POST', body: 'x' }))).toEqual([401])
  expect(await statusesDuring(attacker, () => send({ method: 'GET' }))).toEqual([401])
  const frame = (url: string) => {
    const element = document.createElement('iframe')
    element.src = url
    document.body.append(element)
  }
  expect(await statusesDuring(attacker, () => attacker.evaluate(frame, `${victimUrl}/`))).toEqual([401])
  const form = (url: string) => {
    const element = document.createElement('form')
    Object.assign(element, { action: url, method: 'post', target: 'elsewhere' })
    document.body.append(element)
    element.submit()
  }
  const [popup] = await Promise.all([context.waitForEvent('page'), attacker.evaluate(form, `${victimUrl}/delete`)])
  await popup.waitForLoadState()
  expect(await popup.textContent('body')).toContain('This port is private')
  await popup.close()
})

test('opens through a link from the page of another sandbox', async () => {
  const page = await context.newPage()
  await page.goto(attacker.url())
  await page.evaluate((url) => location.assign(url), `${victimUrl}/linked`)
  await page.waitForURL(`${victimUrl}/linked`)
  expect(JSON.parse((await page.textContent('body')) ?? '')).toMatchObject({ name: 'private', path: '/linked' })
  await page.close()
})

test('a site-wide cookie from another sandbox does not block access', async () => {
  await attacker.evaluate((domain) => {
    for (const name of ['steward_port', '__Host-steward_port']) {
      for (const path of ['/', '/notes']) {
        Object.assign(document, { cookie: `${name}=spt_evil; domain=${domain}; path=${path}; secure` })
      }
    }
  }, sandboxHost)
  for (const path of ['/', '/notes']) expect((await victim.goto(`${victimUrl}${path}`))?.status()).toBe(200)
  const { headers } = JSON.parse((await victim.textContent('body')) ?? '')
  expect(headers.cookie).toBeUndefined()
})
