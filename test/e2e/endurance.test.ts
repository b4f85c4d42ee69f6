import { afterAll, beforeAll, expect, test } from 'vitest'
import { deleteSandbox } from '#shared/contract/sandboxes.ts'
import { createTerminal } from '#shared/contract/terminals.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import type { SharedSteward } from '../support/runner/sharedSteward.ts'
import type { AppWindow } from './pages/appWindow.ts'
import { type StewardInBrowser, stewardInBrowser } from './pages/stewardInBrowser.ts'

let app: StewardInBrowser<SharedSteward>

beforeAll(async () => {
  app = await stewardInBrowser()
})
afterAll(() => app?.close())

/** Opens and closes a terminal the given number of times. */
async function cycle(window: AppWindow, times: number): Promise<void> {
  const count = await window.tabs().count()
  for (let time = 0; time < times; time += 1) {
    await window.newTerminal()
    await eventually(async () => expect(await window.tabs().count()).toBe(count + 1))
    await window.terminal.isLive()
    await window.page.keyboard.press('Control+Shift+X')
    await eventually(async () => expect(await window.tabs().count()).toBe(count))
  }
}

test('closed terminals leave no elements or listeners behind', async () => {
  const { id } = await app.sandbox('cycle-box')
  await app.client.call(createTerminal, { id, command: 'bash' })
  const window = await app.window()
  // If no prompt is detected, a program may be running, so closing the tab would ask for confirmation.
  await window.page.evaluate(() =>
    localStorage.setItem('steward.terminal.preferences', '{"version":1,"closeWarning":false}'),
  )
  await window.reload()
  await window.select('cycle-box')
  await window.terminal.isLive()
  const session = await window.page.context().newCDPSession(window.page)
  const counts = async () => {
    await session.send('HeapProfiler.collectGarbage')
    const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters')
    return { nodes, listeners: jsEventListeners }
  }
  const cycles = 40
  await cycle(window, 5)
  const before = await counts()
  await cycle(window, cycles)
  await eventually(async () => {
    const { nodes, listeners } = await counts()
    // Less than one leaked node and listener per closed terminal.
    expect(nodes - before.nodes).toBeLessThan(cycles)
    expect(listeners - before.listeners).toBeLessThan(cycles)
  })
})

test('terminals and other screens work when the browser storage is full', async () => {
  const { id } = await app.sandbox('full-box')
  await app.client.call(createTerminal, { id, command: 'bash' })
  const window = await app.window()
  await window.page.evaluate(() => {
    let size = 4 * 1024 * 1024
    for (let part = 0; size >= 1; ) {
      try {
        localStorage.setItem(`filler-${part}`, 'x'.repeat(size))
        part += 1
      } catch {
        size = Math.floor(size / 2)
      }
    }
  })
  await window.select('full-box')
  await window.terminal.isLive()
  await window.newTerminal()
  expect(await window.tabs().count()).toBe(2)
  await window.command('Use the dark theme')
  expect(await window.page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark')
  await window.terminal.run('echo still $((40 + 2))')
  await window.terminal.sees('still 42')
  await window.reload()
  await window.select('full-box')
  await window.terminal.isLive()
})

test('removes stored browser state together with its sandbox', async () => {
  const { id } = await app.sandbox('gone-box')
  await app.client.call(createTerminal, { id, command: 'bash' })
  const window = await app.window()
  await window.select('gone-box')
  await window.terminal.isLive()
  await window.newTerminal()
  await window.page.evaluate(
    (sandboxId) => localStorage.setItem(`steward.draft.${sandboxId}:/root/a`, '{"text":"a","version":"v"}'),
    id,
  )
  const readStorage = () => window.page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))
  await until('the layout is stored', async () => (await readStorage()).includes(id))
  await app.client.call(deleteSandbox, { id })
  await until('nothing of it is stored', async () => !(await readStorage()).includes(id))
})
