import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { execInSandbox } from '#shared/contract/sandboxes.ts'
import { createTerminal, listTerminals } from '#shared/contract/terminals.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { type StewardInBrowser, stewardInBrowser } from './pages/stewardInBrowser.ts'

let app: StewardInBrowser

beforeAll(async () => {
  app = await stewardInBrowser()
})
afterAll(() => app?.close())

const terminal = (page: Page, id: string): Locator => page.locator(`[data-terminal="${id}"]:visible`)

async function isLive(page: Page, id: string): Promise<void> {
  await page.locator(`[data-terminal="${id}"][data-phase="live"]:visible`).waitFor()
}

async function typeLine(page: Page, line: string): Promise<void> {
  await page.keyboard.type(line)
  await page.keyboard.press('Enter')
}

async function sees(page: Page, id: string, text: string): Promise<void> {
  const rows = () => terminal(page, id).locator('.xterm-rows > div').allTextContents()
  await until(`${id} shows ${text}`, async () => (await rows()).join('\n').replaceAll('\u00a0', ' ').includes(text))
}

/** Reads the positions of visible terminals, from left to right and top to bottom. */
async function readPositions(page: Page): Promise<Record<string, { x: number; y: number }>> {
  const panes = await page.locator('[data-terminal]:visible').all()
  const entries = await Promise.all(
    panes.map(async (pane) => [await pane.getAttribute('data-terminal'), await pane.boundingBox()] as const),
  )
  return Object.fromEntries(
    entries.map(([id, box]) => [id, { x: Math.round(box?.x ?? -1), y: Math.round(box?.y ?? -1) }]),
  )
}

async function getFocusedId(page: Page): Promise<string | null> {
  return page.locator('[data-terminal]:focus-within').getAttribute('data-terminal')
}

/** Splits the focused terminal and waits until the new one has the focus. */
async function split(page: Page, keys: string): Promise<string> {
  const before = await getFocusedId(page)
  await page.keyboard.press(keys)
  const id = await until('the new terminal has the focus', async () => {
    const now = await getFocusedId(page)
    return now !== before && now
  })
  await isLive(page, id)
  return id
}

test('splits by keys and by dragging, broadcasts input and restores the layout', async () => {
  const { id: sandboxId } = await app.sandbox('split-box')
  const [first, second] = [
    (await app.client.call(createTerminal, { id: sandboxId, command: 'bash' })).session_id,
    (await app.client.call(createTerminal, { id: sandboxId, command: 'bash' })).session_id,
  ]
  const window = await app.window()
  const { page } = window
  await window.select('split-box')
  await isLive(page, first)
  await terminal(page, first).locator('.xterm-helper-textarea').focus()

  const right = await split(page, 'Control+Shift+D')
  await typeLine(page, 'echo right $((40 + 2))')
  await sees(page, right, 'right 42')
  const below = await split(page, 'Control+Alt+Shift+D')
  await typeLine(page, 'echo below $((40 + 3))')
  await sees(page, below, 'below 43')
  const positions = await readPositions(page)
  expect(positions[right]?.x).toBeGreaterThan(positions[first]?.x ?? 0)
  expect(positions[below]?.x).toBe(positions[right]?.x)
  expect(positions[below]?.y).toBeGreaterThan(positions[right]?.y ?? 0)

  await page.keyboard.press('Control+Shift+ArrowLeft')
  await eventually(async () => expect(await getFocusedId(page)).toBe(first))
  await page.keyboard.press('Control+Alt+Shift+ArrowRight')
  await eventually(async () => expect((await readPositions(page))[right]?.x).toBeGreaterThan(positions[right]?.x ?? 0))

  await page.keyboard.press('Control+Shift+Z')
  await eventually(async () => expect(Object.keys(await readPositions(page))).toEqual([first]))
  await page.keyboard.press('Control+Shift+Z')
  await eventually(async () => expect(Object.keys(await readPositions(page))).toHaveLength(3))

  await page.keyboard.press('Control+Shift+G')
  await page.getByText('Your input goes to 3 terminals.').waitFor()
  await typeLine(page, 'echo all $((50 + 5))')
  for (const id of [first, right, below]) await sees(page, id, 'all 55')
  await page.keyboard.press('Control+Shift+G')
  await page.getByText('Your input goes to').waitFor({ state: 'hidden' })
  await typeLine(page, 'echo alone $((60 + 6))')
  await sees(page, first, 'alone 66')
  expect(await terminal(page, right).locator('.xterm-rows').textContent()).not.toContain('alone')

  await window
    .tabs()
    .nth(1)
    .dragTo(terminal(page, first), { targetPosition: { x: 260, y: 640 } })
  await isLive(page, second)
  await eventually(async () => expect(Object.keys(await readPositions(page))).toHaveLength(4))
  expect(await window.tabs().count()).toBe(1)
  const arranged = await readPositions(page)
  expect(arranged[second]?.x).toBe(arranged[first]?.x)
  expect(arranged[second]?.y).toBeGreaterThan(arranged[first]?.y ?? 0)

  await window.reload()
  for (const id of [first, right, below, second]) await isLive(page, id)
  await eventually(async () => expect(await readPositions(page)).toEqual(arranged))
})

test('renames and reorders tabs and opens search results in other terminals', async () => {
  const { id } = await app.sandbox('tab-box')
  const [first, two, three] = await Promise.all(
    ['seq 1 3000; echo hidden-needle; seq 1 200; cat', 'cat', 'cat'].map((command) =>
      app.client.call(createTerminal, { id, command }),
    ),
  )
  const window = await app.window()
  const { page } = window
  await window.select('tab-box')
  await window.terminal.isLive()
  await eventually(async () => expect(await window.tabs().count()).toBe(3))

  const names = async () => (await window.tabs().allTextContents()).map((name) => name.trim())
  const rename = async (index: number, name: string) => {
    await window.tabs().nth(index).dblclick()
    await page.getByRole('textbox', { name: 'Name' }).fill(name)
    await page.keyboard.press('Enter')
    await eventually(async () => expect((await names())[index]).toBe(name))
  }
  for (const [index, name] of ['red', 'green', 'blue'].entries()) await rename(index, name)
  await eventually(async () => {
    const { sessions } = await app.client.call(listTerminals, { id })
    expect(sessions.map((it) => it.name).sort()).toEqual(['blue', 'green', 'red'])
  })
  await page.keyboard.press('Control+Shift+PageUp')
  await eventually(async () => expect(await names()).toEqual(['red', 'blue', 'green']))
  await window
    .tabs()
    .nth(0)
    .dragTo(window.tabs().nth(2), { targetPosition: { x: 60, y: 10 } })
  await eventually(async () => expect((await names()).at(-1)).toBe('red'))
  const order = await names()
  await window.reload()
  await eventually(async () => expect(await names()).toEqual(order))

  const match = [first, two, three].find((it) => it?.command.includes('needle'))?.session_id ?? ''
  const elsewhere = order.indexOf('red') === 0 ? 1 : 0
  await window.tabs().nth(elsewhere).click()
  await window.terminal.isLive()
  await window.command('Search in all terminals')
  const search = window.dialog('Search in all terminals')
  await search.getByPlaceholder('Search in all terminals').fill('HIDDEN-needle')
  await search.getByRole('option').filter({ hasText: 'hidden-needle' }).waitFor()
  await page.keyboard.press('Enter')
  await search.waitFor({ state: 'hidden' })
  await sees(page, match, 'hidden-needle')
})

test('a split starts in the same directory, and ending a running program asks first', async () => {
  const { id: sandboxId } = await app.sandbox('careful-box')
  const first = (await app.client.call(createTerminal, { id: sandboxId, command: 'bash' })).session_id
  const window = await app.window()
  const { page } = window
  const running = async () => (await app.client.call(listTerminals, { id: sandboxId })).sessions
  await window.select('careful-box')
  await isLive(page, first)
  await terminal(page, first).locator('.xterm-helper-textarea').focus()
  await typeLine(page, 'mkdir -p "/tmp/the work" && cd "/tmp/the work" && echo moved $((40 + 2))')
  await sees(page, first, 'moved 42')
  const second = await split(page, 'Control+Shift+D')
  await typeLine(page, 'echo "<$PWD>"')
  await sees(page, second, '</tmp/the work>')
  await typeLine(page, 'mkdir -p deep; cd deep && sleep 2000')
  await until('sleep', async () => {
    const { exit_code: code } = await app.client.call(execInSandbox, {
      id: sandboxId,
      command: 'pgrep -fx "sleep 2000"',
    })
    return code === 0
  })
  const third = await split(page, 'Control+Shift+D')
  await typeLine(page, 'echo "<$PWD>"; exit')
  await sees(page, third, '</tmp/the work/deep>')
  await until('the third one has ended', async () => (await running()).length === 2)
  await page.keyboard.press('Control+Shift+X')
  await terminal(page, second).locator('.xterm-helper-textarea').focus()
  await page.keyboard.press('Control+C')
  await typeLine(page, 'echo begun $((40 + 3)); sleep 1000')
  await sees(page, second, 'begun 43')
  const isAsleep = { id: sandboxId, command: 'pgrep -x sleep' }
  await until('it to run', async () => (await app.client.call(execInSandbox, isAsleep)).exit_code === 0)

  await page.keyboard.press('Control+Shift+X')
  const question = page.getByRole('dialog', { name: /^Close “/ })
  await question.getByText(/sleep 1000/).waitFor()
  await page.keyboard.press('Escape')
  await question.waitFor({ state: 'hidden' })
  await until('the terminal has the focus again', async () => (await getFocusedId(page)) === second)
  expect(await running()).toHaveLength(2)
  await page.keyboard.press('Control+Shift+X')
  await question.getByRole('button', { name: 'Close terminal' }).click()
  await until('the program has ended', async () => (await running()).length === 1)

  await terminal(page, first).locator('.xterm-helper-textarea').focus()
  await page.keyboard.press('Control+Shift+X')
  await until('the shell that waited was closed without a question', async () => (await running()).length === 0)
})
