import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { execInSandbox } from '#shared/contract/sandboxes.ts'
import type { SandboxId } from '#shared/ids.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import type { AppWindow } from './pages/appWindow.ts'
import { pictures } from './pages/pictures.ts'
import { type StewardInBrowser, stewardInBrowser } from './pages/stewardInBrowser.ts'

const look = pictures()
let app: StewardInBrowser
let id: SandboxId
let window: AppWindow
let page: Page

beforeAll(async () => {
  app = await stewardInBrowser()
})
afterAll(() => app?.close())

async function openFiles(name: string): Promise<void> {
  id = (await app.sandbox(name)).id
  window = await app.window()
  page = window.page
  await window.select(name)
  await window.command('Show files')
  await tree().waitFor()
}

const tree = () => page.getByRole('tree')
const row = (name: string) => tree().getByRole('treeitem').filter({ hasText: name }).first()
const button = (name: string) => page.getByRole('button', { name, exact: true }).locator('visible=true')
const transfers = () => page.getByRole('region', { name: 'Transfers' })

async function bash(command: string): Promise<string> {
  const { stdout, stderr, exit_code } = await app.client.call(execInSandbox, { id, command })
  expect(exit_code, stderr).toBe(0)
  return stdout
}

test('uploads a folder and then changes, downloads and deletes its contents', async () => {
  await openFiles('tree-box')
  const folder = join(temporaryFolder('upload'), 'project')
  mkdirSync(join(folder, 'src/deep'), { recursive: true })
  writeFileSync(join(folder, 'read me.txt'), 'hello')
  const content = randomBytes(5_000_000)
  writeFileSync(join(folder, 'src/deep/ü.bin'), content)
  await page.getByLabel('Folder to upload').setInputFiles(folder)
  await transfers().getByText('2 uploaded').waitFor()
  expect(await bash('cd /root/project; cat read*; sha256sum < src/deep/ü.bin')).toContain(
    `hello${createHash('sha256').update(content).digest('hex')}`,
  )
  await button('Clear').click()

  await row('project').click()
  await row('src').click()
  await row('read me.txt').click()
  await page.keyboard.press('F2')
  const dialog = window.dialog('Rename read me.txt')
  await dialog.getByLabel('New name').fill('notes.txt')
  await dialog.getByRole('button', { name: 'Rename' }).click()
  await row('notes.txt').waitFor()
  await row('notes.txt').dragTo(row('deep'))
  await eventually(async () => expect(await bash('cat /root/project/src/deep/notes.txt')).toBe('hello'))

  await row('deep').click()
  await row('ü.bin').click({ button: 'right' })
  const coming = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: 'Download' }).click()
  const download = await coming
  expect(download.suggestedFilename()).toBe('ü.bin')
  expect(readFileSync(await download.path()).equals(content)).toBe(true)
  await look(page, 'files')

  await row('deep').click()
  await page.keyboard.press('Delete')
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await row('deep').waitFor({ state: 'detached' })
  expect(await bash('ls /root/project/src')).toBe('')
})

test('resumes an upload after a lost connection and after a reload', async () => {
  await openFiles('lost-box')
  const path = join(temporaryFolder('large'), 'large.bin')
  const content = randomBytes(30_000_000)
  writeFileSync(path, content)
  let pieces = 0
  const isPiece = /\/files\/uploads\/upl_/
  await page.route(isPiece, (route) => {
    if (route.request().method() !== 'PATCH' || ++pieces <= 3) return route.continue()
    return route.abort('connectionreset')
  })
  await page.getByLabel('Files to upload').setInputFiles(path)
  await transfers().getByText('connection lost').waitFor()
  await look(page, 'files-lost')
  await window.reload()
  await transfers().getByText('choose the file again').waitFor()
  await page.unroute(isPiece)
  await page.getByLabel('File to resume large.bin').setInputFiles(path)
  await transfers().getByText('1 uploaded').waitFor()
  expect(await bash('sha256sum < /root/large.bin; ls -A /root | grep -c upl_ || true')).toBe(
    `${createHash('sha256').update(content).digest('hex')}  -\n0\n`,
  )

  writeFileSync(path, 'other')
  await page.getByLabel('Files to upload').setInputFiles(path)
  const dialog = window.dialog('large.bin already exists')
  await dialog.getByRole('button', { name: 'Keep both' }).click()
  await row('large 2.bin').waitFor()
  expect(await bash('cat "/root/large 2.bin"')).toBe('other')
})

test('edits and saves a text file and asks after a conflicting change', async () => {
  await openFiles('edit-box')
  await bash('printf "const answer = 41\\n" > /root/answer.js')
  await row('answer.js').dblclick()
  const editor = page.getByLabel('Contents of answer.js')
  await editor.getByText('const answer = 41').waitFor()
  await editor.click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type('// mine')
  await page.getByRole('img', { name: 'Not saved' }).waitFor()
  await page.keyboard.press('Control+S')
  await page.getByRole('img', { name: 'Not saved' }).waitFor({ state: 'detached' })
  expect(await bash('cat /root/answer.js')).toBe('const answer = 41\n// mine')

  await bash('echo theirs > /root/answer.js')
  await page.keyboard.type(' again')
  await page.keyboard.press('Control+S')
  await page.getByText('answer.js changed on disk.').waitFor()
  await look(page, 'files-conflict')
  await button('Maximize').click()
  await look(page, 'files-large')
  await button('Exit full size').click()
  await button('Overwrite').click()
  await page.getByText('changed on disk').waitFor({ state: 'detached' })
  expect(await bash('cat /root/answer.js')).toBe('const answer = 41\n// mine again')

  await editor.click()
  await page.keyboard.type('lost?')
  await page.getByRole('tab', { name: 'answer.js' }).press('Delete')
  await page.getByRole('button', { name: 'Close without saving' }).click()
  await page.getByRole('region', { name: 'Open files' }).waitFor({ state: 'detached' })
})

test('accepts files dropped onto a folder and shows images', async () => {
  await openFiles('drop-box')
  await bash('mkdir -p /root/drop')
  await row('drop').waitFor()
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="80"><script>window.ran = true</script><rect width="120" height="80" fill="teal"/></svg>'
  const data = await page.evaluateHandle((text) => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([text], 'picture.svg', { type: 'image/svg+xml' }))
    return transfer
  }, svg)
  await row('drop').dispatchEvent('drop', { dataTransfer: data })
  await eventually(async () => expect(await bash('cat /root/drop/picture.svg')).toBe(svg))
  await row('drop').click()
  await row('picture.svg').dblclick()
  const picture = page.getByRole('img', { name: 'picture.svg' })
  await eventually(async () => {
    expect(await picture.evaluate((element) => (element instanceof HTMLImageElement ? element.naturalWidth : 0))).toBe(
      120,
    )
  })
  await page.getByText('120 × 80').waitFor()
  expect(await page.evaluate(() => 'ran' in globalThis)).toBe(false)
  await look(page, 'files-picture')
})
