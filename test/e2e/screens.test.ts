import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { uploadFile } from '#shared/contract/files.ts'
import { createSandbox, deleteSandbox, type Sandbox } from '#shared/contract/sandboxes.ts'
import { createTerminal, createTerminalLink } from '#shared/contract/terminals.ts'
import { openWindow } from '../support/clients/browser.ts'
import { pictures } from './pages/pictures.ts'
import { type StewardInBrowser, stewardInBrowser } from './pages/stewardInBrowser.ts'
import { terminalPane } from './pages/terminalPane.ts'

let app: StewardInBrowser

const primes = `#!/usr/bin/env python3
"""Prints the primes below a limit."""
import sys


def primes(limit: int):
    sieve = bytearray([1]) * limit
    for n in range(2, limit):
        if sieve[n]:
            yield n
            sieve[n * n :: n] = bytes(len(range(n * n, limit, n)))


if __name__ == "__main__":
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print(*primes(limit))
`
const look = pictures()

beforeAll(async () => {
  app = await stewardInBrowser()
})
afterAll(() => app?.close())

test('shows the signed-out screen without a session', async () => {
  const opened = await openWindow(app.browser)
  onTestFinished(() => opened.close())
  await opened.page.goto(new URL(app.steward.url).origin)
  await opened.page.getByRole('heading', { name: 'You’re signed out' }).waitFor()
  await look(opened.page, 'no-session')
})

test('the first screen explains sandboxes', async () => {
  const window = await app.window()
  await window.page.getByRole('heading', { name: 'Your first sandbox' }).waitFor()
  await look(window.page, 'first-sandbox')
})

test('the new sandbox dialog rejects values outside the limits', async () => {
  const window = await app.window()
  await window.page.getByRole('button', { name: 'New sandbox' }).first().click()
  const form = window.dialog('New sandbox')
  await form.getByLabel('Name').fill('build-box')
  await form.getByLabel('Memory').fill('99999')
  await form.getByLabel('Memory').blur()
  expect(await form.getByLabel('Memory').inputValue()).toBe('99999')
  await form.getByText('Use 512 to 8192').waitFor()
  await look(window.page, 'new-sandbox')
})

test('the command palette runs the selected command', async () => {
  const window = await app.window()
  await window.page.keyboard.press('Control+K')
  const palette = window.dialog('Commands')
  await palette.getByRole('option', { name: 'New sandbox…' }).waitFor()
  await look(window.page, 'commands')
  await palette.getByRole('combobox').fill('keyboard')
  await window.page.keyboard.press('Enter')
  await window.dialog('Keyboard shortcuts').waitFor()
})

test('pressing ? opens the list of shortcuts', async () => {
  const window = await app.window()
  await window.page.getByRole('button', { name: 'Terminals' }).focus()
  await window.page.keyboard.press('?')
  const shortcuts = window.dialog('Keyboard shortcuts')
  await shortcuts.getByText('Find a command').waitFor()
  await look(window.page, 'shortcuts')
  await window.page.keyboard.press('Escape')
  await shortcuts.waitFor({ state: 'hidden' })
})

test('shows live and ended terminals, search and the delete confirmation', async () => {
  const sandboxes: Sandbox[] = []
  for (const [name, vcpu] of [['build-box', 2] as const, ['agent-research', 1] as const, ['scratch', 1] as const]) {
    sandboxes.push(await app.client.call(createSandbox, { name, vcpu, memory_mb: 1024 }))
  }
  onTestFinished(async () => {
    for (const { id } of sandboxes) await app.client.call(deleteSandbox, { id })
  })
  const [first] = sandboxes
  if (!first) throw new Error('Nothing was made.')
  await app.client.call(createTerminal, { id: first.id, command: 'bash' })
  const window = await app.window()
  await window.select('build-box')
  const { terminal } = window
  await terminal.isLive()
  await terminal.run('python3 -q')
  await terminal.sees('>>>')
  await terminal.run('sum(n * n for n in range(1000))')
  await terminal.sees('332833500')
  await window.newTerminal()
  await terminal.run('ls --color=always /; uname -sr; nproc; echo ready')
  await terminal.sees(/^ready$/m)
  await app.client.call(uploadFile, { id: first.id, path: '/root/primes.py', content: primes })
  await terminal.run('vim -N -u NONE -c "syntax on | set number laststatus=2 ruler" primes.py')
  await terminal.sees('def primes')
  await look(window.page, 'terminals')

  await terminal.run(':q')
  await terminal.sees(/^ready$/m)
  await terminal.press('Control+Shift+F')
  const search = window.page.getByRole('search', { name: 'Search in terminal' })
  await search.getByRole('textbox').fill('Linux')
  await search.getByText(/of \d/).waitFor()
  await look(window.page, 'search')
  await search.getByRole('textbox').press('Escape')

  await terminal.run('exit 3')
  await window.page.getByText('Exited with code 3').first().waitFor()
  await look(window.page, 'ended')

  await window.command('Delete build-box')
  await window.dialog('Delete build-box?').waitFor()
  await look(window.page, 'delete-sandbox')
})

test('the status bar shows keys that work in the focused area', async () => {
  const { id } = await app.sandbox('hints')
  await app.client.call(createTerminal, { id, command: 'bash' })
  const window = await app.window()
  const listKeys = async (name: RegExp) =>
    (await window.page.getByRole('button', { name }).locator('kbd:visible').allTextContents()).join()
  await window.select('hints')
  await window.terminal.isLive()

  await window.terminal.run('echo typed')
  await window.terminal.sees(/^typed$/m)
  expect(await listKeys(/^Commands/)).toBe('CtrlShiftP')
  expect(await listKeys(/^Shortcuts/)).toBe('')

  await window.page.getByRole('button', { name: /^Shortcuts/ }).click()
  await window.dialog('Keyboard shortcuts').waitFor()
  await window.page.keyboard.press('Escape')
  await window.dialog('Keyboard shortcuts').waitFor({ state: 'hidden' })
  expect(await listKeys(/^Commands/)).toBe('CtrlK')
  expect(await listKeys(/^Shortcuts/)).toBe('?')
})

test('a terminal link opens one sandbox until that sandbox is deleted', async () => {
  const { id } = await app.sandbox('shared-box')
  await app.client.call(createTerminal, { id, command: 'bash' })
  const { terminal_url: url } = await app.client.call(createTerminalLink, { id })
  const opened = await openWindow(app.browser)
  onTestFinished(() => opened.close())
  const terminal = terminalPane(opened.page)
  await opened.page.goto(url)
  await terminal.isLive()
  expect(opened.page.url()).not.toContain('token')
  await terminal.run('echo hello from $(hostname)')
  await terminal.sees('hello from shared-box')
  await look(opened.page, 'terminal-link')
  expect(opened.complaints).toEqual([])

  await app.client.call(deleteSandbox, { id })
  await opened.page.reload()
  await opened.page.getByRole('heading', { name: 'This link has expired' }).waitFor()
  await look(opened.page, 'terminal-link-ended')
})
