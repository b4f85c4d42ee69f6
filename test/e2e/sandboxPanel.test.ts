import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { listPorts } from '#shared/contract/ports.ts'
import { addSandboxDomain } from '#shared/contract/sandboxDomains.ts'
import { deleteSandbox, execInSandbox, getSandbox, listSandboxes } from '#shared/contract/sandboxes.ts'
import { createTerminal } from '#shared/contract/terminals.ts'
import { until } from '../support/assertions/eventually.ts'
import { hostRootTar } from '../support/fixtures/hostRootTar.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { openDetails } from './pages/detailsPanel.ts'
import { pictures } from './pages/pictures.ts'
import { type StewardInBrowser, stewardInBrowser } from './pages/stewardInBrowser.ts'

let app: StewardInBrowser
const look = pictures()

beforeAll(async () => {
  app = await stewardInBrowser()
})
afterAll(() => app?.close())

/** Counts columns with a pixel in the lower half, which excludes the dashed line of the limit. */
const drawnColumns = `(canvas) => {
  const { width, height } = canvas
  const { data } = canvas.getContext('2d').getImageData(0, Math.floor(height / 2), width, Math.floor(height / 2))
  const columns = new Set()
  for (let place = 3; place < data.length; place += 4) if (data[place] > 0) columns.add(((place - 3) / 4) % width)
  return columns.size
}`

test('shows the details and usage of a sandbox, renames it and ends its processes', async () => {
  const { id } = await app.sandbox('build-box')
  await app.client.call(createTerminal, { id, command: 'bash' })
  const exec = (command: string) => app.client.call(execInSandbox, { id, command })
  await exec(
    '(exec -a stubborn sleep 1000) >/dev/null 2>&1 & (trap "" TERM; exec -a deaf sleep 1000) >/dev/null 2>&1 &',
  )
  await exec('ls /nowhere')
  const window = await app.window()
  const { page } = window
  await window.select('build-box')
  await window.terminal.isLive()
  const details = await openDetails(window)

  const memory = details.root.locator('[data-metric=Memory]')
  await until('some readings', async () => Number(await memory.getAttribute('data-points')) > 2)
  expect(await memory.textContent()).toContain('of 512 MB')
  const canvas = `document.querySelector('[data-metric=Memory] canvas')`
  const countDrawn = () => page.evaluate<number>(`(${drawnColumns})(${canvas})`)
  await until('the line to be drawn', async () => (await countDrawn()) > 1)

  const processes = await details.section('Processes')
  const row = (name: string) => processes.getByRole('row').filter({ hasText: `${name} 1000` })
  await row('deaf').waitFor()
  await processes.getByRole('button', { name: 'Command' }).click()
  expect(await processes.getByRole('columnheader', { name: 'Command' }).getAttribute('aria-sort')).toBe('ascending')
  await row('stubborn').getByRole('button').click()
  await page.getByRole('menuitem', { name: 'End process' }).click()
  await row('stubborn').waitFor({ state: 'detached' })
  await row('deaf').getByRole('button').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Kill' }).click()
  await row('deaf').waitFor({ state: 'detached' })

  const commands = await details.section('Recent commands')
  await commands.getByText('ls /nowhere').hover()
  await commands.getByRole('img', { name: 'Exit code 2' }).waitFor()
  await commands.getByRole('button', { name: 'Run in a new terminal' }).first().click()
  await window.terminal.sees('/nowhere')
  expect(await window.page.getByRole('tablist', { name: 'Terminals in build-box' }).getByRole('tab').count()).toBe(2)

  const activity = await details.section('Activity')
  await activity.getByRole('button', { name: 'Terminals' }).click()
  await activity
    .getByText(/Opened a terminal/)
    .first()
    .waitFor()
  expect(await activity.getByText('Ran a command').count()).toBe(0)
  const share = await details.section('Share terminals')
  await share.getByRole('button', { name: 'Create link' }).click()
  await share.getByText(/^Expires/).waitFor()
  await look(page, 'overview')

  await details.root.getByRole('button', { name: 'Rename' }).click()
  const name = details.root.getByRole('textbox', { name: 'Name' })
  await name.fill('')
  await name.press('Enter')
  await details.root.getByText('The name must not be empty.').waitFor()
  await name.fill('release-box')
  await name.press('Enter')
  await details.root.getByRole('heading', { name: 'release-box' }).waitFor()
  await window.sandbox('release-box').waitFor()

  await details.root.getByRole('button', { name: /^Stop when idle/ }).click()
  await page.getByRole('menuitemradio', { name: 'After 1 hour' }).click()
  await until('it to be kept', async () => (await app.client.call(getSandbox, { id })).idle_minutes === 60)
  expect((await app.client.call(getSandbox, { id })).name).toBe('release-box')

  await details.root.getByRole('button', { name: 'Stop', exact: true }).click()
  await details.root.getByText('Stopped. Last values').waitFor()
  await details.root.getByRole('button', { name: 'Start', exact: true }).click()
  await details.root.getByRole('button', { name: 'Stop', exact: true }).waitFor()
})

test('shows a private port in the panel and a tab to the user only', async () => {
  const { id } = await app.sandbox('web-box')
  const exec = (command: string) => app.client.call(execInSandbox, { id, command })
  await exec('mkdir /srv/www && echo "<h2>Hello from the sandbox</h2>" > /srv/www/index.html')
  await exec('touch -d "1 hour ago" /srv/www/index.html') // browsers treat old files as unchanged
  const window = await app.window()
  const { page } = window
  await window.select('web-box')
  const details = await openDetails(window)
  const ports = await details.section('Ports')

  await ports.getByRole('button', { name: 'Expose a port' }).click()
  const form = ports.getByRole('form', { name: 'Expose a port' })
  await form.getByLabel('Port').fill('70000')
  await form.getByRole('button', { name: 'Expose' }).click()
  await form.getByText('Must be a whole number from 1 to 65535.').waitFor()
  await form.getByRole('button', { name: 'Cancel' }).click()

  await exec('cd /srv/www && python3 -m http.server 3000 >/dev/null 2>&1 &')
  const offered = ports.getByRole('list', { name: 'Unexposed ports' }).getByRole('listitem')
  await offered.filter({ hasText: '3000' }).getByRole('button', { name: 'Expose…' }).click()
  await form.getByRole('button', { name: 'Expose' }).click()
  await ports.getByText('private · listening').waitFor()

  await ports.getByRole('button', { name: 'Preview port 3000 here' }).click()
  const preview = ports.getByRole('region', { name: 'Preview of port 3000' })
  const frame = preview.frameLocator('iframe')
  await frame.getByRole('heading', { name: 'Hello from the sandbox' }).waitFor()
  await look(page, 'ports-private')
  const opening = page.context().waitForEvent('page')
  await preview.getByRole('button', { name: 'Open in browser' }).click()
  const opened = await opening
  await opened.getByRole('heading', { name: 'Hello from the sandbox' }).waitFor()
  expect(opened.url()).not.toContain('token')
  const address = new URL(opened.url()).origin
  await opened.close()
  const stranger = await app.browser.newContext()
  const page2 = await stranger.newPage()
  expect((await page2.goto(address))?.status()).toBe(401)

  await exec('echo "<h2>Private still</h2>" > /srv/www/index.html')
  await preview.getByRole('button', { name: 'Reload' }).click()
  await frame.getByRole('heading', { name: 'Private still' }).waitFor()
  expect((await page2.goto(address))?.status()).toBe(401)

  await details.choose('Actions for port 3000', 'Make public')
  await ports.getByText('public · listening').waitFor()
  await frame.getByRole('heading', { name: 'Private still' }).waitFor()
  expect((await page2.goto(address))?.status()).toBe(200)
  await stranger.close()
  await exec('echo "<h2>Changed since</h2>" > /srv/www/index.html')
  await preview.getByRole('button', { name: 'Reload' }).click()
  await preview.frameLocator('iframe').getByRole('heading', { name: 'Changed since' }).waitFor()
  await app.client.call(addSandboxDomain, { id, domain: 'shop.test', port: 3000 })
  const names = ports.getByRole('list', { name: 'Domains' })
  await names.getByText('shop.test → port 3000').waitFor()
  await look(page, 'ports')
  await names.getByRole('button', { name: 'Remove shop.test' }).click()
  await names.waitFor({ state: 'detached' })

  await exec('pkill -f http.server; true')
  await preview.getByText('Nothing is listening on port 3000').waitFor()
  await details.choose('Actions for port 3000', 'Remove')
  await ports.getByText('No ports exposed').waitFor()
})

test('offers a listening port while the panel is closed and opens it privately', async () => {
  const { id } = await app.sandbox('chip-box')
  const exec = (command: string) => app.client.call(execInSandbox, { id, command })
  await app.client.call(createTerminal, { id, command: 'bash' })
  await exec('mkdir /srv/chip && echo "<h2>From the chip</h2>" > /srv/chip/index.html')
  const window = await app.window()
  const { page } = window
  await window.select('chip-box')
  await exec('cd /srv/chip && python3 -m http.server 8000 >/dev/null 2>&1 &')
  const chip = page.getByRole('button', { name: '8000 listening · Open' })
  await chip.waitFor()
  await look(page, 'ports-chip')
  const opening = page.context().waitForEvent('page')
  await chip.click()
  const opened = await opening
  await opened.getByRole('heading', { name: 'From the chip' }).waitFor()
  expect(opened.url()).not.toContain('token')
  await opened.close()
  const { ports } = await app.client.call(listPorts, { id })
  expect(ports).toMatchObject([{ port: 8000, visibility: 'private' }])

  await exec('cd /srv/chip && python3 -m http.server 8001 >/dev/null 2>&1 &')
  await page.getByRole('button', { name: '2 ports listening' }).click()
  await page.getByRole('menuitem', { name: 'Open 8001' }).waitFor()
  await page.keyboard.press('Escape')
  await exec('pkill -f http.server; true')
  await page.getByRole('button', { name: '2 ports listening' }).waitFor({ state: 'detached' })
})

test('restores a snapshot and creates another sandbox from it', async () => {
  const { id } = await app.sandbox('data-box')
  const exec = (command: string) => app.client.call(execInSandbox, { id, command })
  await exec('echo first edition > /root/book')
  await app.client.call(createTerminal, { id, command: 'bash' })
  const window = await app.window()
  const { page } = window
  await window.select('data-box')
  await window.terminal.isLive()
  const details = await openDetails(window)
  const snapshots = await details.section('Snapshots')
  await snapshots.getByRole('button', { name: 'Take a snapshot' }).click()
  const take = window.dialog('Snapshot of data-box')
  await take.getByLabel('Name').fill('before the rewrite')
  await take.getByRole('button', { name: 'Take snapshot' }).click()
  await snapshots.getByRole('listitem').filter({ hasText: 'before the rewrite' }).waitFor()
  await look(page, 'snapshots')

  await window.terminal.run('echo second edition > book; cat book')
  await window.terminal.sees(/^second edition$/m)
  await details.choose('Actions for snapshot before the rewrite', 'Restore…')
  const restore = window.dialog('Restore “before the rewrite”?')
  await restore.getByText('which ends all terminals and programs').waitFor()
  await restore.getByRole('button', { name: 'Restore' }).click()
  await restore.waitFor({ state: 'hidden' })
  await window.newTerminal()
  await window.terminal.run('cat book')
  await window.terminal.sees(/^first edition$/m)

  await details.choose('Actions for snapshot before the rewrite', 'Fork to a new sandbox…')
  const fork = window.dialog('New sandbox from “before the rewrite”')
  await fork.getByLabel('Name').fill('data-copy')
  await fork.getByRole('button', { name: 'Create sandbox' }).click()
  await window.sandbox('data-copy').waitFor()
  onTestFinished(async () => {
    const { sandboxes } = await app.client.call(listSandboxes, {})
    for (const sandbox of sandboxes)
      if (sandbox.name === 'data-copy') await app.client.call(deleteSandbox, { id: sandbox.id })
  })
  await page.getByRole('tablist', { name: 'Terminals in data-copy' }).waitFor()
  await window.terminal.isLive()
  await window.terminal.run('cat /root/book')
  await window.terminal.sees('first edition')

  await window.select('data-box')
  await details.choose('Actions for snapshot before the rewrite', 'Delete…')
  await window.dialog('Delete “before the rewrite”?').getByRole('button', { name: 'Delete snapshot' }).click()
  await details.root.getByText('Save the files as they are now').and(page.locator(':visible')).waitFor()
})

test('adds an image file and creates a sandbox with network and idle settings', async () => {
  const window = await app.window()
  const { page } = window
  await window.command('New sandbox')
  const form = window.dialog('New sandbox')
  await form.getByLabel('Name').fill('from-image')
  await form.getByRole('button', { name: 'Images…' }).click()
  const images = window.dialog('Images')
  await images.getByRole('button', { name: 'Add image' }).click()
  const add = images.getByRole('form', { name: 'Add an image' })
  await add.getByLabel('Name').fill('small')
  await add.getByRole('button', { name: /^From/ }).click()
  await page.getByRole('menuitemradio', { name: /A file on this computer/ }).click()
  await add.getByRole('textbox', { name: 'File' }).fill('root.tar')
  await add.getByRole('button', { name: 'Add', exact: true }).click()
  await add.getByText('Must be an absolute path of this computer.').waitFor()
  await add.getByRole('textbox', { name: 'File' }).fill(await hostRootTar(temporaryFolder('root')))
  await add.getByRole('button', { name: 'Add', exact: true }).click()
  const row = images.locator('[data-image=small]')
  await row.and(page.locator('[data-status=ready]')).waitFor()
  await look(page, 'images')
  await images.getByRole('button', { name: 'Close' }).click()
  await images.waitFor({ state: 'hidden' })

  expect(await form.getByLabel('Name').inputValue()).toBe('from-image')
  await form.getByRole('button', { name: /^Image This computer/ }).click()
  await page.getByRole('menuitemradio', { name: /^small/ }).click()
  await form.getByRole('button', { name: /^Network .*\(default\)/ }).click()
  await page.getByRole('menuitemradio', { name: /^No network/ }).click()
  await form.getByText('No access to anything outside.').waitFor()
  await form.getByRole('button', { name: 'Advanced' }).click()
  await form.getByRole('button', { name: /^Stop when idle/ }).click()
  await page.getByRole('menuitemradio', { name: 'After 30 minutes' }).click()
  await look(page, 'new-sandbox-advanced')
  await form.getByRole('button', { name: 'Create sandbox' }).click()
  await form.waitFor({ state: 'hidden' })
  await window.terminal.isLive()
  await window.terminal.run('test -e /usr/bin/perl && ! test -e /usr/bin/chromium && echo of the image')
  await window.terminal.sees(/^of the image$/m)
  const { sandboxes } = await app.client.call(listSandboxes, {})
  const created = sandboxes.find(({ name }) => name === 'from-image')
  expect(created).toMatchObject({ image: 'small', network: 'none', idle_minutes: 30 })

  await window.command('Images…')
  await images.getByRole('button', { name: 'Remove small' }).click()
  await page.getByText('Could not remove the image small').waitFor()
  if (created) await app.client.call(deleteSandbox, { id: created.id })
  await images.getByRole('button', { name: 'Remove small' }).click()
  await images.getByText('No images yet.').waitFor()
})
