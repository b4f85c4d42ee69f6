import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTerminal } from '#shared/contract/terminals.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { type StewardInBrowser, stewardInBrowser } from './pages/stewardInBrowser.ts'

let app: StewardInBrowser

beforeAll(async () => {
  app = await stewardInBrowser()
})
afterAll(() => app?.close())

async function openTerminal(name: string) {
  const { id } = await app.sandbox(name)
  await app.client.call(createTerminal, { id, command: 'bash -l' })
  const window = await app.window()
  await window.select(name)
  await window.terminal.isLive()
  await window.terminal.sees(/^root@.*#$/m)
  return window.terminal
}

test('shows the correct last lines after a flood of output', async () => {
  const terminal = await openTerminal('flood-box')
  await terminal.run('seq 1 3000000')
  await terminal.sees(/^3000000\n.*root@.*#$/m)
  await eventually(async () => {
    const numbers = (await terminal.rows()).filter((row) => /^\d+$/.test(row)).map(Number)
    expect(numbers.at(-1)).toBe(3_000_000)
    expect(numbers).toEqual(numbers.map((_, index) => 3_000_000 - numbers.length + 1 + index))
  })
  // A click while the screen is redrawn after a skipped flood may be lost, so it is repeated.
  await eventually(async () => {
    await terminal.press('Shift+PageUp')
    const numbers = (await terminal.rows()).filter((row) => /^\d+$/.test(row)).map(Number)
    expect(numbers.length).toBeGreaterThan(5)
    expect(numbers.at(-1)).toBeLessThan(3_000_000)
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index))
  })
})

test('an interrupted flood leaves a prompt and a working shell', async () => {
  const terminal = await openTerminal('interrupt-box')
  await terminal.run('yes')
  await terminal.sees(/^y\ny\ny$/m)
  await terminal.press('Control+c')
  await terminal.sees(/\^C\n?.*root@.*#\s*$/)
  await terminal.run('echo after')
  await terminal.sees(/^after$/m)
})
