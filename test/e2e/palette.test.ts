import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { uploadFile } from '#shared/contract/files.ts'
import { getPolicy } from '#shared/contract/intents.ts'
import { exposePort } from '#shared/contract/ports.ts'
import { getSandbox } from '#shared/contract/sandboxes.ts'
import { createTerminal } from '#shared/contract/terminals.ts'
import { until } from '../support/assertions/eventually.ts'
import { importPrivateKey } from '../support/clients/walletForms.ts'
import type { AppWindow } from './pages/appWindow.ts'
import { pictures } from './pages/pictures.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

let app: StewardInBrowser
const look = pictures()

beforeAll(async () => {
  app = await ownStewardInBrowser()
  // Second account of the Hardhat and Anvil test mnemonic.
  const key = '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
  await importPrivateKey(app.person, { key, passphrase: 'orbit lantern velvet quarry mosaic' })
})
afterAll(() => app?.close())

/** Opens a window with the terminals of a sandbox, two of them side by side, in which most commands are available. */
async function busyWindow(name: string): Promise<AppWindow> {
  const { id } = await app.sandbox(name)
  for (const command of ['bash', 'bash']) await app.client.call(createTerminal, { id, command })
  const window = await app.window()
  await window.select(name)
  await window.terminal.isLive()
  await window.terminal.press('Control+Shift+D')
  const overlay = window.page.locator('[data-keys="terminal"]').and(window.page.locator(':visible'))
  await until('a second terminal beside it', async () => (await overlay.count()) === 2)
  return window
}

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+Shift+P')
  await page.getByRole('dialog', { name: 'Commands' }).getByRole('combobox').waitFor()
}

async function search(page: Page, query: string): Promise<{ titles: string[]; selected: string | undefined }> {
  const palette = page.getByRole('dialog', { name: 'Commands' })
  await palette.getByRole('combobox').fill(query)
  const options = palette.getByRole('option')
  for (let count = 0; count < (await options.count()); ) {
    count = await options.count()
    await palette.getByRole('listbox').evaluate((list) => list.scrollTo(0, list.scrollHeight))
    // Added rows appear after the next frame.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
  }
  return options.evaluateAll((rows) => {
    const readTitle = (row: Element | undefined) => row?.querySelector('[data-title]')?.textContent ?? undefined
    return {
      titles: rows.map((row) => readTitle(row) ?? ''),
      selected: readTitle(rows.find((row) => row.getAttribute('aria-selected') === 'true')),
    }
  })
}

const plain = (text: string) =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .join(' ')

test('selects each command by its full title and by its first four letters', async () => {
  const { page } = await busyWindow('atlas')
  await openPalette(page)
  const { titles: all } = await search(page, '')
  expect(all.length).toBeGreaterThan(60)
  expect(new Set(all).size).toBe(all.length)

  for (const title of all) {
    expect(await search(page, title)).toMatchObject({ selected: title })
    const start = title.slice(0, 4)
    const { titles, selected } = await search(page, start)
    const begins = titles.map((value) => plain(value).startsWith(plain(start)))
    expect(titles).toContain(title)
    expect(selected).toBe(titles[0])
    expect(begins.indexOf(false) === -1 || !begins.slice(begins.indexOf(false)).includes(true)).toBe(true)
  }
  for (const query of ['split', 'rename', 'theme', 'stop atlas', 'stpevr']) {
    expect((await search(page, query)).selected).not.toBe('Stop everything')
  }
  expect((await search(page, 'stpevr')).titles).toEqual([])
})

test('asks before stopping anything from the palette', async () => {
  const window = await busyWindow('keeper')
  const { page } = window
  await openPalette(page)
  expect((await search(page, 'stop everything')).selected).toBe('Stop everything')
  await page.keyboard.press('Enter')
  const question = window.dialog('Stop everything?')
  await question.waitFor()
  await question.getByRole('button', { name: 'Cancel' }).click()
  await question.waitFor({ state: 'hidden' })
  expect((await app.person.call(getPolicy, {})).stopped).toBe(false)

  await openPalette(page)
  expect((await search(page, 'stop keeper')).selected).toBe('Stop keeper…')
  await page.keyboard.press('Enter')
  await window.dialog('Stop keeper?').getByRole('button', { name: 'Stop sandbox' }).click()
  await window.page.getByRole('status').getByText('stopped').first().waitFor()
})

test('opens sandboxes, ports and files and remembers the last choice', async () => {
  const first = await app.sandbox('harbour')
  await app.sandbox('quarry')
  await app.client.call(uploadFile, { id: first.id, path: '/root/tide/levels.csv', content: 'hour,level\n' })
  await app.client.call(exposePort, { id: first.id, port: 8123, visibility: 'public' })
  const window = await app.window()
  const { page } = window
  await page.keyboard.press('Alt+4')
  await page.getByRole('heading', { name: 'Wallet', level: 2 }).waitFor()

  await openPalette(page)
  expect((await search(page, 'harb')).selected).toBe('harbour')
  await page.keyboard.press('Enter')
  await window.sandbox('harbour').locator('[aria-current]').waitFor()

  await openPalette(page)
  await until('the port is known', async () => (await search(page, '8123')).selected === 'Port 8123 of harbour')
  await until('the folder is read', async () => (await search(page, '/root/tide/lev')).selected === 'levels.csv')
  await look(page, 'commands-files')
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'Open files' }).getByRole('tab', { name: 'levels.csv' }).waitFor()
  await page.getByText('hour,level').waitFor()

  await openPalette(page)
  expect((await search(page, '')).titles[0]).toBe('harbour')
  expect((await search(page, 'levels')).selected).toBe('levels.csv')
  expect((await app.client.call(getSandbox, { id: first.id })).status).toBe('running')
})
