import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApiKey } from '#shared/contract/accounts.ts'
import { startRegistration } from '#shared/contract/automatons.ts'
import { uploadFile } from '#shared/contract/files.ts'
import { askIntent, decideIntent } from '#shared/contract/intents.ts'
import { createTerminal } from '#shared/contract/terminals.ts'
import { until } from '../support/assertions/eventually.ts'
import { createStewardClient } from '../support/clients/stewardClient.ts'
import { importPrivateKey } from '../support/clients/walletForms.ts'
import { pictures } from './pages/pictures.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/** Frame around all screens, checked with a wallet, requests and automatons that only this file creates. */
let app: StewardInBrowser
const look = pictures()
const zoomedWindow = { width: 640, height: 400 }

beforeAll(async () => {
  app = await ownStewardInBrowser()
  // Second account of the Hardhat and Anvil test mnemonic.
  const key = '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
  await importPrivateKey(app.person, { key, passphrase: 'orbit lantern velvet quarry mosaic' })
  const created = await app.client.call(createApiKey, { name: 'research-agent' })
  const program = createStewardClient(new URL(app.steward.url).origin, created.key)
  for (const [path, amount] of [
    ['prices', '2500000'],
    ['papers', '500000'],
  ] as const) {
    const { id } = await program.call(askIntent, {
      intent: {
        kind: 'x402.authorize',
        network: 'base',
        pay_to: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
        amount,
        resource: `https://api.example.com/${path}`,
      },
      reason: 'A dataset for the report',
    })
    if (path === 'prices') await app.person.call(decideIntent, { intentId: id, approve: false })
  }
  await app.person.call(startRegistration, { name: 'Research agent', bio: 'Reads papers.' })
})
afterAll(() => app?.close())

async function go(page: Page, section: string): Promise<void> {
  await page.evaluate(`location.hash = '#/${section}'`)
}

test('all screens share one frame on a large screen and at 200 % zoom', async () => {
  const { page } = await app.window()
  for (const [section, title, text] of [
    ['wallet', 'Wallet', 'Networks'],
    ['payments', 'Payments', 'No payments yet'],
    ['identity', 'Identity', 'Research agent'],
    ['approvals', 'Approvals', 'Reads papers.'],
    ['activity', 'Activity', 'Today'],
    ['settings/account', 'Settings', 'Linked wallets'],
    ['settings/policies', 'Settings', 'Rules'],
  ] as const) {
    await go(page, section)
    await page.getByText(text).and(page.locator(':visible')).first().waitFor()
    const head = page.getByRole('main').getByRole('heading', { name: title, level: 2 })
    expect(await head.locator('xpath=ancestor::header').evaluate((it) => it.getBoundingClientRect().height)).toBe(44)
    await look.inOtherSizes(page, `frame-${section.replace('/', '-')}`)
  }
})

test('keeps the width that the user chose for the list on every screen', async () => {
  const { page } = await app.window()
  const divider = page.getByRole('separator', { name: /^Width/ }).and(page.locator(':visible'))
  const readPosition = async () => (await divider.first().boundingBox())?.x ?? 0
  await go(page, 'identity')
  const before = await readPosition()
  await divider.focus()
  await page.keyboard.press('ArrowRight')
  await until('the list is wider', async () => (await readPosition()) > before + 20)
  const wider = await readPosition()
  await go(page, 'settings/account')
  await page.getByRole('heading', { name: 'Settings', level: 2 }).waitFor()
  await until('it is as wide here', async () => Math.abs((await readPosition()) - wider) < 2)
  await page.reload()
  await until('it was kept', async () => Math.abs((await readPosition()) - wider) < 2)
})

test('every panel of every screen is reachable at 200 % zoom', async () => {
  const { id } = await app.sandbox('atlas')
  await app.sandbox('quarry')
  await app.client.call(createTerminal, { id, command: 'bash' })
  await app.client.call(uploadFile, { id, path: '/root/notes.md', content: '# Notes\n' })
  const window = await app.window()
  const { page } = window
  await window.select('atlas')
  await window.terminal.isLive()
  await page.setViewportSize(zoomedWindow)

  const sections = page.getByRole('navigation', { name: 'Sections' }).getByRole('button')
  for (const button of await sections.all()) {
    const { y = -1, height = 0 } = (await button.boundingBox()) ?? {}
    expect(y).toBeGreaterThanOrEqual(0)
    expect(y + height).toBeLessThan(zoomedWindow.height)
  }

  const details = page.getByRole('region', { name: 'Details: atlas' })
  await page.getByRole('button', { name: 'Sandbox details' }).and(page.locator(':visible')).click()
  await details.getByRole('heading', { name: 'Usage' }).waitFor()
  expect((await details.boundingBox())?.width).toBeGreaterThan(300)
  await details.getByRole('tab', { name: 'Files' }).click()
  await details.getByRole('treeitem', { name: /notes\.md/ }).waitFor()
  await look(page, 'frame-files-640', ['dark'])
  await page.getByRole('button', { name: 'Sandbox details' }).and(page.locator(':visible')).click()
  await details.waitFor({ state: 'hidden' })

  await page.getByRole('button', { name: 'Show list: Sandboxes' }).and(page.locator(':visible')).click()
  await look(page, 'frame-list-640', ['dark'])
  await window.select('quarry')
  await window.sandbox('quarry').waitFor({ state: 'detached' })
  await page.getByText('No open terminals').and(page.locator(':visible')).waitFor()

  for (const [section, list, row, columns] of [
    ['identity', 'Automatons', 'Research agent', 'Research agent'],
    ['approvals', 'Requests', /Pay 2\.50/, /Pay 2\.50/],
    ['settings/account', 'Settings', 'Policies', 'Policies'],
  ] as const) {
    await go(page, section)
    await page.getByRole('button', { name: `Show list: ${list}` }).click()
    await page.getByRole('link', { name: row }).first().click()
    await page.getByRole('button', { name: `Show list: ${list}` }).waitFor()
    await page.getByRole('main').getByRole('heading', { name: columns }).first().waitFor()
  }
})

test('keeps an edited file when the zoom changes', async () => {
  const { id } = await app.sandbox('slate')
  await app.client.call(createTerminal, { id, command: 'bash' })
  await app.client.call(uploadFile, { id, path: '/root/notes.md', content: '# Notes\n' })
  const window = await app.window()
  const { page } = window
  await window.select('slate')
  await window.terminal.isLive()
  await go(page, `terminals/${id}/files/${encodeURIComponent('/root/notes.md')}`)
  const editor = page.getByRole('region', { name: 'Open files' }).getByRole('textbox')
  await editor.click()
  await page.keyboard.type('kept ')
  await page.setViewportSize(zoomedWindow)
  await editor.getByText('kept').waitFor()
  await page.setViewportSize({ width: 1280, height: 800 })
  await editor.getByText('kept').waitFor()
  await page.keyboard.press('Control+S')
  await page.getByRole('img', { name: 'Not saved' }).waitFor({ state: 'detached' })
})

test('dividers of a hidden sandbox ignore the pointer', async () => {
  const { id } = await app.sandbox('split-box')
  await app.client.call(createTerminal, { id, command: 'bash' })
  const otherSandbox = await app.sandbox('plain-box')
  await app.client.call(createTerminal, { id: otherSandbox.id, command: 'bash' })
  const window = await app.window()
  const { page } = window
  await window.select('split-box')
  await window.terminal.isLive()
  await window.terminal.press('Control+Shift+D')
  const divider = page.getByRole('separator', { name: 'Terminal width' }).and(page.locator(':visible'))
  await divider.waitFor()
  const box = await divider.boundingBox()
  if (!box) throw new Error('There is no divider.')
  await window.select('plain-box')
  await window.terminal.isLive()
  await page.mouse.move(box.x, box.y + 200)
  await page.mouse.down()
  await page.mouse.move(box.x - 160, box.y + 200, { steps: 4 })
  await page.mouse.up()
  await window.select('split-box')
  await divider.waitFor()
  expect(await divider.boundingBox()).toEqual(box)
})

test('shows section names on request and opens sections with G outside text input', async () => {
  const { id } = await app.sandbox('letters')
  await app.client.call(createTerminal, { id, command: 'cat' })
  const window = await app.window()
  const { page } = window
  const waitForHeading = (title: string) => page.getByRole('heading', { name: title, level: 2 }).first().waitFor()
  const nav = page.getByRole('navigation', { name: 'Sections' })
  await window.select('letters')
  await window.terminal.isLive()
  await window.terminal.press('g')
  await window.terminal.press('w')
  await window.terminal.sees(/gw/)

  await nav.getByRole('button', { name: 'Settings' }).click()
  for (const [letter, title] of Object.entries({
    w: 'Wallet',
    p: 'Payments',
    i: 'Identity',
    a: 'Approvals',
    y: 'Activity',
  })) {
    await page.keyboard.press('g')
    await page.keyboard.press(letter)
    await waitForHeading(title)
  }
  await page.getByLabel('Search activity').fill('')
  await page.getByLabel('Search activity').pressSequentially('gs')
  expect(await page.getByLabel('Search activity').inputValue()).toBe('gs')
  await waitForHeading('Activity')

  expect(await nav.getByText('Wallet').count()).toBe(0)
  await nav.getByRole('button', { name: 'Show section names' }).click()
  await nav.getByText('Wallet').waitFor()
  await look(page, 'frame-names', ['dark'])
  await page.reload()
  await nav.getByText('Wallet').waitFor()
  await nav.getByRole('button', { name: 'Hide section names' }).click()
  await nav.getByText('Wallet').waitFor({ state: 'detached' })
})
