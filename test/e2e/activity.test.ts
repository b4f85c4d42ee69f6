import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createApiKey, revokeApiKey } from '#shared/contract/accounts.ts'
import { createTerminal, writeTerminal } from '#shared/contract/terminals.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { until } from '../support/assertions/eventually.ts'
import { createProviderServer, type ProviderServer } from '../support/models/providerServer.ts'
import { openActivity } from './pages/activityScreen.ts'
import { openChat } from './pages/chatScreen.ts'
import { pictures } from './pages/pictures.ts'
import { settingsScreen } from './pages/settingsScreen.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/** Activity log in the window, with entries of the real service and a modified log file. */
let app: StewardInBrowser
let providers: ProviderServer
const look = pictures()

beforeAll(async () => {
  providers = await createProviderServer()
  const { baseUrl, apiKey } = providers.providerOf('d')
  app = await ownStewardInBrowser({
    config: { inference: { families: { d: { base_url: baseUrl, api_key: apiKey } } } },
  })
})
afterAll(async () => {
  await app?.close()
  await providers?.close()
})

const makeKey = (name: string) => app.client.call(createApiKey, { name })

function tamper({ steward }: StewardInBrowser, sql: string): void {
  const database = openDatabase(join(steward.dataFolder, 'agent.sqlite'))
  try {
    database.exec('DROP TRIGGER IF EXISTS timeline_keeps_words; DROP TRIGGER IF EXISTS timeline_keeps_rows')
    database.exec(sql)
  } finally {
    database.close()
  }
}

test('shows events live, each with its details', async () => {
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
  // New entries are held back while the user reads, so that nothing moves.
  const before = await opened.boundingBox()
  await makeKey('meanwhile')
  await activity.root.getByRole('button', { name: '1 new entry' }).waitFor()
  expect(await opened.boundingBox()).toEqual(before)
  expect(await activity.entry('“meanwhile”').count()).toBe(0)
  await look(window.page, 'activity')
  await activity.root.getByRole('button', { name: '1 new entry' }).click()
  await activity.sees('“meanwhile”')
})

test('filters entries by text and attributes and reports an empty result', async () => {
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

test('supports keyboard navigation with one Tab stop', async () => {
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

test('groups a chat message and its activity as one task with cost and links', async () => {
  const window = await app.window()
  const { page } = window
  const chat = await openChat(window)
  await chat.composer.getByRole('button', { name: /^Model:/ }).click()
  await page.getByRole('option', { name: /^kimi-k2\.5/ }).click()
  providers.play({
    parts: [{ text: 'Blue, mostly.' }],
    usage: { input: 1_000, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 500, reasoning: 0 },
  })
  await chat.send('Which color is the sky?')
  await chat.answered('Blue, mostly.')

  const activity = await openActivity(window)
  await activity.area('Chat')
  await activity.sees('You asked kimi-k2.5 in a chat')
  const answered = await activity.open('kimi-k2.5 answered in a chat')
  expect(await activity.root.getByText('Which color').count(), 'the log has no words of a chat').toBe(0)
  await answered.getByRole('link', { name: 'Show whole task' }).click()
  const task = activity.root.getByRole('region', { name: 'Task' })
  await task.getByText('2 entries').waitFor()
  await task
    .getByRole('list', { name: 'Cost' })
    .getByText(/^Models \$0\.00/)
    .waitFor()
  const order = activity.root.getByRole('list', { name: 'Task, oldest first' }).getByRole('article')
  expect(await order.count()).toBe(2)
  expect(await order.first().textContent()).toMatch(/^You asked/)
  await look(page, 'activity-task')
  await look.inOtherSizes(page, 'activity-task')

  await task.getByRole('link', { name: 'Open message' }).click()
  await chat.messages.getByText('Which color is the sky?', { exact: true }).waitFor()
  const answer = chat.answers.last()
  await answer.hover()
  await answer.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Show in Activity' }).click()
  await task.getByText('2 entries').waitFor()
  await task.getByRole('link', { name: 'Show all activity' }).click()
  await activity.sees('You asked kimi-k2.5 in a chat')
})

test('records terminals after the user enables it and replays them', async () => {
  const window = await app.window()
  const { page } = window
  const root = page.getByRole('main')
  const recordings = root.getByRole('navigation', { name: 'Activity' }).getByRole('link', { name: 'Recordings' })
  await openActivity(window)
  await recordings.click()
  await root.getByRole('heading', { name: 'No recordings' }).waitFor()
  const section = await settingsScreen(page).open('Activity')
  const checkbox = section.getByRole('checkbox', { name: 'Record terminals' })
  await checkbox.click() // checked after the setting is stored
  await checkbox.and(page.locator(':checked')).waitFor()
  await look(page, 'settings-activity')

  const { id } = await app.sandbox('recorded')
  const { session_id: sessionId } = await app.client.call(createTerminal, {
    id,
    command: `for i in 1 2 3 4 5 6; do printf '\\033[3%dmline %d of the build\\033[0m\\n' $i $i; sleep 0.15; done; read end; echo the end`,
    cols: 72,
    rows: 14,
  })
  await app.client.call(writeTerminal, { id, sessionId, input: '\n' })
  const activity = await openActivity(window)
  const entry = await activity.open('Recorded a terminal of recorded')
  await entry.getByRole('link', { name: 'Replay terminal' }).click()
  const player = root.getByRole('region', { name: 'Recording' })
  const rows = player.locator('.xterm-rows')
  await rows.waitFor()
  await player.getByRole('button', { name: /^Speed/ }).click()
  await page.getByRole('menuitemradio', { name: '8×' }).click()
  await player.getByRole('button', { name: 'Play' }).click()
  await rows.getByText('the end').waitFor()
  await player.getByRole('button', { name: 'Play' }).waitFor()
  await look(page, 'activity-replay')
  await look.inOtherSizes(page, 'activity-replay')
  const time = player.getByRole('slider', { name: 'Time' })
  await time.focus()
  await page.keyboard.press('ArrowLeft')
  await until('it to be back at its beginning', async () => (await rows.getByText('the end').count()) === 0)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    root.getByRole('button', { name: 'Save as .cast' }).click(),
  ])
  const [header, ...events] = readFileSync(await download.path(), 'utf8')
    .trim()
    .split('\n')
  expect(JSON.parse(header ?? '')).toMatchObject({ version: 2, width: 72, height: 14, title: 'recorded' })
  expect(events.length).toBeGreaterThan(2)

  await recordings.click()
  await root.getByRole('list', { name: 'Recordings' }).getByRole('listitem').first().waitFor()
  await look(page, 'activity-recordings')
  await root.getByRole('button', { name: 'Delete the recording of recorded' }).click()
  await page.getByRole('button', { name: 'Delete recording' }).click()
  await root.getByRole('heading', { name: 'No recordings' }).waitFor()
  const settings = await settingsScreen(page).open('Activity')
  const unwanted = settings.getByRole('checkbox', { name: 'Record terminals' })
  await unwanted.click()
  await unwanted.and(page.locator(':not(:checked)')).waitFor()
})

test('exports the activity log as a file', async () => {
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

// Tampering is permanent, so each try uses a separate Steward.
test('detects and locates a changed row and a missing one', async () => {
  const app = await ownStewardInBrowser()
  onTestFinished(() => app.steward.close())
  const window = await app.window()
  const activity = await openActivity(window)
  await activity.sees('Connected to This computer')
  expect(await activity.verify()).toMatch(/^Entries 1 to \d+ are intact$/)
  await activity.result.getByText(/covers all entries before it/).waitFor()
  await look(window.page, 'activity-intact')

  for (let index = 1; index <= 8; index += 1) await app.client.call(createApiKey, { name: `filler ${index}` })
  await activity.sees('“filler 8”')
  tamper(
    app,
    `UPDATE timeline SET summary = 'Steward was never started.' WHERE sequence = 1;
    DELETE FROM timeline WHERE sequence = 3`,
  )
  expect(await activity.verify()).toBe('The log was changed in 2 places')
  const changed = 'The entry was changed: it does not match its hash.'
  await activity.result.getByText(`Entry 1: ${changed}`).waitFor()
  await activity.result.getByText('Entry 4: Before this entry, entry 3 is missing.').waitFor()
  await activity.entry('Steward was never started').getByText(changed).waitFor()
  await activity.result.getByRole('button', { name: 'Show entry 1' }).click()
  await activity.root.getByText('Showing entry 1 and').waitFor()
  const result = activity.entry('Steward was never started')
  await result.getByText('Entry 1 of the log').waitFor()
  await window.page.locator(':focus').filter({ hasText: 'Steward was never started' }).waitFor()
  await look(window.page, 'activity-damaged')
  await activity.root.getByRole('button', { name: 'Newest' }).click()
  await activity.sees('“filler 8”')
})
