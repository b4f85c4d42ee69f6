import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/main/storage/openDatabase.ts'
import { createApiKey, revokeApiKey } from '../../src/shared/contract/accounts.ts'
import { until } from '../support/eventually.ts'
import { openActivity } from './pages/activityScreen.ts'
import { pictures } from './pages/pictures.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/** The log in the window, from what the real service told, and what somebody did to its file. */
let app: StewardInBrowser
const look = pictures()

beforeAll(async () => {
  app = await ownStewardInBrowser()
})
afterAll(() => app?.close())

const makeKey = (name: string) => app.client.call(createApiKey, { name })

function tamper(sql: string): void {
  const database = openDatabase(join(app.steward.dataFolder, 'agent.sqlite'))
  try {
    database.exec('DROP TRIGGER IF EXISTS timeline_keeps_words; DROP TRIGGER IF EXISTS timeline_keeps_rows')
    database.exec(sql)
  } finally {
    database.close()
  }
}

test('shows what happens as it happens, each entry with all it holds', async () => {
  const window = await app.window()
  const activity = await openActivity(window)
  await activity.sees(/^Steward .* started/)
  await activity.sees('Connected to This computer')
  await app.sandbox('watched')
  await activity.sees('You created watched')
  const { id } = await makeKey('for a script')
  await activity.sees('“for a script”')
  await app.client.call(revokeApiKey, { keyId: id })
  await activity.sees(/You revoked the API key “for a script”/)
  expect(await activity.root.getByRole('heading', { name: 'Today' }).count()).toBe(1)

  const opened = await activity.open('You revoked')
  await opened.getByText(/^Entry \d+ of the log$/).click()
  await opened.getByText('key.revoked').waitFor()
  await opened.getByText('Service sequence').waitFor()
  expect(await opened.getByRole('definition').last().textContent()).toMatch(/[0-9a-f]{64}/)
  // What comes while one reads waits, and moves nothing.
  const before = await opened.boundingBox()
  await makeKey('meanwhile')
  await activity.root.getByRole('button', { name: '1 new entry' }).waitFor()
  expect(await opened.boundingBox()).toEqual(before)
  expect(await activity.entry('“meanwhile”').count()).toBe(0)
  await look(window.page, 'activity')
  await activity.root.getByRole('button', { name: '1 new entry' }).click()
  await activity.sees('“meanwhile”')
})

test('finds by words, area, actor and time, and says when there is nothing', async () => {
  await makeKey('needle')
  const window = await app.window()
  const activity = await openActivity(window)
  await activity.sees('“needle”')
  await activity.search('api NEEDLE')
  await until('the rest to be gone', async () => (await activity.root.getByRole('article').count()) === 1)
  await activity.search('')
  await activity.area('System')
  await activity.sees('Connected to This computer')
  await until('the keys to be gone', async () => (await activity.entry('“needle”').count()) === 0)
  await activity.by('Steward')
  await until('the service to be gone', async () => (await activity.entry('Connected').count()) === 0)
  await activity.sees(/^Steward .* started/)
  await activity.when('Today')
  await activity.sees(/^Steward .* started/)
  await activity.search('nothing like it')
  await activity.root.getByRole('heading', { name: 'No matching activity' }).waitFor()
  await activity.root.getByRole('button', { name: 'Clear filters' }).click()
  await activity.sees('“needle”')
})

test('is read by keyboard, one stop for Tab', async () => {
  const window = await app.window()
  const { page } = window
  const activity = await openActivity(window)
  await activity.sees('Connected to This computer')
  await activity.root.getByRole('article').first().getByRole('button').focus()
  await page.keyboard.press('End')
  const focused = page.locator(':focus')
  await until('the oldest to have the focus', async () =>
    /^Steward .* started/.test((await focused.textContent()) ?? ''),
  )
  await page.keyboard.press('Enter')
  await activity.root.getByText('Entry 1 of the log').waitFor()
  await page.keyboard.press('Home')
  await until('the newest to have the focus', async () => !/started/.test((await focused.textContent()) ?? 'started'))
  expect(await activity.root.locator('[data-row][tabindex="0"]').count()).toBe(1)
})

test('exports the log as a file', async () => {
  const window = await app.window()
  const activity = await openActivity(window)
  await activity.sees('Connected to This computer')
  await activity.search('started')
  await activity.exportMenu()
  const [download] = await Promise.all([
    window.page.waitForEvent('download'),
    window.page.getByRole('menuitem', { name: 'All, JSON Lines' }).click(),
  ])
  expect(download.suggestedFilename()).toBe('steward-activity.jsonl')
  const lines = readFileSync(await download.path(), 'utf8')
    .trim()
    .split('\n')
  expect(lines.map((line) => JSON.parse(line).sequence)).toEqual(lines.map((_, index) => index + 1))
})

test('finds a row that somebody changed and one that is gone, and shows where', async () => {
  const window = await app.window()
  const activity = await openActivity(window)
  await activity.sees('Connected to This computer')
  expect(await activity.verify()).toMatch(/^Entries 1 to \d+ are intact$/)
  await activity.result.getByText(/covers all entries before it/).waitFor()
  await look(window.page, 'activity-intact')

  for (let index = 1; index <= 8; index += 1) await makeKey(`filler ${index}`)
  await activity.sees('“filler 8”')
  tamper(`UPDATE timeline SET summary = 'Steward was never started.' WHERE sequence = 1;
    DELETE FROM timeline WHERE sequence = 3`)
  expect(await activity.verify()).toBe('The log was changed in 2 places')
  const changed = 'It was changed after it was written: it does not match its hash.'
  await activity.result.getByText(`Entry 1: ${changed}`).waitFor()
  await activity.result.getByText('Entry 4: Before it, entry 3 is missing.').waitFor()
  await activity.entry('Steward was never started').getByText(changed).waitFor()
  await activity.result.getByRole('button', { name: 'Show entry 1' }).click()
  await activity.root.getByText('Showing entry 1 and').waitFor()
  const sought = activity.entry('Steward was never started')
  await sought.getByText('Entry 1 of the log').waitFor()
  await window.page.locator(':focus').filter({ hasText: 'Steward was never started' }).waitFor()
  await look(window.page, 'activity-damaged')
  await activity.root.getByRole('button', { name: 'Newest' }).click()
  await activity.sees('“filler 8”')
})
