import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWindow, type Window } from '../support/clients/browser.ts'
import { getSharedBrowser } from '../support/clients/getSharedBrowser.ts'
import { exchange, runningService, type TestService } from '../support/processes/runningService.ts'

/** `/docs` in a real browser that can reach only this computer. */
let service: TestService
let browser: Browser
let window: Window

beforeAll(async () => {
  service = await runningService({ host: 'none' })
  browser = await getSharedBrowser()
  window = await openWindow(browser)
})
afterAll(async () => {
  await window?.close()
  await service?.close()
})

test('shows the API documentation in a browser without external requests', async () => {
  const elsewhere: string[] = []
  window.page.on('request', (request) => {
    if (!request.url().startsWith(service.url) && !/^(data|blob):/.test(request.url())) elsewhere.push(request.url())
  })
  await window.page.goto(`${service.url}/docs`)
  await window.page.getByRole('heading', { name: 'Steward', exact: true }).waitFor()
  await window.page.getByText('Sandboxes').first().click()
  await window.page.getByText('Create and start a sandbox').first().waitFor()
  expect(elsewhere).toEqual([])
  expect(window.complaints).toEqual([])
})

test('serves the document and the page without a key', async () => {
  const document = await exchange(service.url, '/openapi.json', { key: null })
  expect(document.json).toMatchObject({ openapi: '3.1.0', info: { title: 'Steward' } })
  const page = await exchange(service.url, '/docs/', { key: null })
  expect(page.headers['content-security-policy']).toMatch(/script-src 'self' 'sha256-[A-Za-z0-9+/]+=*'/)
})
