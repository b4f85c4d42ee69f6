import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { readFile } from '#shared/contract/files.ts'
import { listPorts } from '#shared/contract/ports.ts'
import { execInSandbox } from '#shared/contract/sandboxes.ts'
import { createTerminal, listTerminals } from '#shared/contract/terminals.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { openWindow } from '../support/clients/browser.ts'
import { type AppWindow, appWindow } from './pages/appWindow.ts'
import { pictures } from './pages/pictures.ts'
import { type StewardInBrowser, stewardInBrowser } from './pages/stewardInBrowser.ts'

let app: StewardInBrowser
const look = pictures()

beforeAll(async () => {
  app = await stewardInBrowser()
})
afterAll(() => app?.close())

async function openTerminal(name: string): Promise<{ id: string; window: AppWindow }> {
  const { id } = await app.sandbox(name)
  await app.client.call(createTerminal, { id, command: 'bash -l' })
  const window = await app.window()
  await window.select(name)
  await window.terminal.isLive()
  await window.terminal.sees(/^root@.*#$/m)
  return { id, window }
}

const clipboard = ({ page }: AppWindow) => page.evaluate(() => navigator.clipboard.readText())
const copies = ({ page }: AppWindow, text: string) =>
  page.evaluate((copied) => navigator.clipboard.writeText(copied), text)
const findMarks = (page: Page) => page.getByRole('region', { name: 'Commands in view' })
const topRow = async ({ terminal }: AppWindow) => (await terminal.rows())[0]

test('navigates between commands, shows their exit status and copies their output', async () => {
  const { window } = await openTerminal('marks-box')
  const { page, terminal } = window
  await terminal.run('printf "one\\ntwo\\n"')
  await terminal.run('false')
  await terminal.run('seq 1 80')
  await terminal.sees(/^80$/m)
  await terminal.run('cat')
  const marks = findMarks(page)
  await marks.getByRole('button', { name: 'cat: running' }).waitFor()
  await terminal.press('Control+c')
  await marks.getByRole('button', { name: 'cat: exit code 130' }).waitFor()

  await terminal.press('Control+ArrowUp')
  await terminal.press('Control+ArrowUp')
  await eventually(async () => expect(await topRow(window)).toMatch(/# seq 1 80$/))
  await window.command('Copy last output')
  const numbers = Array.from({ length: 80 }, (_, index) => index + 1).join('\n')
  await eventually(async () => expect(await clipboard(window)).toBe(numbers))

  await terminal.press('Control+ArrowUp')
  await eventually(async () => expect(await topRow(window)).toMatch(/# false$/))
  await terminal.press('Control+ArrowUp')
  await eventually(async () => expect(await topRow(window)).toMatch(/# printf/))
  await marks.getByRole('button', { name: 'false: exit code 1' }).waitFor()
  await look(page, 'commands-marked')
  await marks.getByRole('button', { name: /^printf .*: exit code 0/ }).click()
  await page.getByRole('menuitem', { name: 'Copy output' }).click()
  await eventually(async () => expect(await clipboard(window)).toBe('one\ntwo'))
  await marks.getByRole('button', { name: 'false: exit code 1' }).click()
  await page.getByRole('menuitem', { name: 'Run again' }).click()
  await eventually(async () => expect(await marks.getByRole('button', { name: 'false: exit code 1' }).count()).toBe(1))
  await terminal.sees(/# false\nroot@.*#$/m)

  await window.reload()
  await terminal.isLive()
  await marks.getByRole('button', { name: 'cat: exit code 130' }).waitFor()
})

test('opens ports in the browser and files at their line from terminal output', async () => {
  const { id, window } = await openTerminal('places-box')
  const { page, terminal } = window
  const context = page.context()
  await app.client.call(execInSandbox, {
    id,
    command: `mkdir -p /root/src && seq -f 'line %g' 200 > /root/src/app.py
      mkdir /root/evil.example && echo served | tee /root/page.txt > /root/evil.example/page.txt && cd /root && (python3 -m http.server 8123 >/dev/null 2>&1 &)`,
  })
  const inTab = async (work: () => Promise<void>) => {
    const [opened] = await Promise.all([context.waitForEvent('page'), work()])
    const readText = () => opened.evaluate(() => document.body.textContent?.trim()).catch(() => '')
    await until('the page of the port is there', async () => (await readText()) === 'served')
    const address = new URL(opened.url())
    await opened.close()
    return address
  }

  await terminal.run('clear; echo "see http://localhost:8123/page.txt?a=b, or localhost:8123/page.txt"')
  await terminal.sees(/^see http/m)
  await terminal.openLink('http://localhost:8123/page.txt?a=b')
  const question = window.dialog('Expose port 8123 of places-box?')
  await question.waitFor()
  await look(page, 'terminal-link-port')
  const dialogResult = await inTab(() => question.getByRole('button', { name: 'Expose and open' }).click())
  expect([dialogResult.hostname, dialogResult.pathname, dialogResult.search]).toEqual([
    expect.stringMatching(/^8123-/),
    '/page.txt',
    '?a=b',
  ])
  expect((await app.client.call(listPorts, { id })).ports).toMatchObject([{ port: 8123, visibility: 'private' }])
  const again = await inTab(() => terminal.openLink(', or localhost:8123/page.txt'.slice(5)))
  expect([again.hostname, again.pathname]).toEqual([dialogResult.hostname, '/page.txt'])
  await terminal.run('clear; echo "it is http://localhost:8123//evil.example/page.txt"')
  await terminal.sees(/^it is http/m)
  const led = await inTab(() => terminal.openLink('http://localhost:8123//evil.example/page.txt'))
  expect([led.hostname, led.pathname]).toEqual([dialogResult.hostname, '//evil.example/page.txt'])

  await terminal.run('clear; echo "src/app.py:120:3: error, src/gone.py:1"')
  await terminal.sees(/^src.*gone.py:1$/m)
  await terminal.hover('src/gone.py:1')
  await terminal.openLink('src/app.py:120:3')
  const line = page.locator('.cm-activeLine')
  await until('the line is shown', async () => (await line.textContent()) === 'line 120')
  await look(page, 'terminal-link-file')
  await terminal.run("clear; printf '\\e]8;;file://places-box/root/src\\e\\\\folder\\e]8;;\\e\\\\ here\\n'")
  await terminal.sees(/^folder here$/m)
  await terminal.openLink('folder')
  await page.getByRole('tree').getByText('app.py', { exact: true }).waitFor()
})

test('terminal output cannot open servers of this computer', async () => {
  const { window } = await openTerminal('own-server-box')
  const { page, terminal } = window
  const opened: string[] = []
  page.context().on('page', (popup) => opened.push(popup.url()))
  const { port } = new URL(page.url())
  for (const address of [
    `http://127.0.0.1:${port}/`,
    `http://localhost:${port}//evil.example/`,
    `http://[::1]:${port}`,
  ]) {
    await terminal.run(`clear; echo "op"'en ${address}'`)
    await terminal.sees(`open ${address}`)
    await terminal.openLink(address)
    const question = window.dialog(`Expose port ${port} of own-server-box?`)
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'hidden' })
  }
  expect(opened).toEqual([])
})

test('asks before running several pasted lines', async () => {
  const { id, window } = await openTerminal('paste-box')
  const { page, terminal } = window
  const readStored = async () => (await app.client.call(readFile, { id, path: '/root/kept' })).content
  const question = window.dialog('Paste 3 lines?')
  await copies(window, 'first\n  second \x1b[2J\nthird\n')
  await terminal.run('cat >> kept')
  await findMarks(page).getByRole('button', { name: 'cat >> kept: running' }).waitFor()
  await window.command('Paste into terminal')
  await question.getByText('runs each line as it is pasted').waitFor()
  await look(page, 'paste')
  await question.getByRole('button', { name: 'Cancel' }).click()
  await question.waitFor({ state: 'hidden' })

  await window.command('Paste into terminal')
  await question.getByRole('button', { name: 'Paste as one line' }).click()
  await question.waitFor({ state: 'hidden' })
  await terminal.press('Enter')
  await eventually(async () => expect(await readStored()).toBe('first second [2J third\n'))

  await window.command('Paste into terminal')
  await question.getByLabel('Don’t ask again').check()
  await question.getByRole('button', { name: 'Paste', exact: true }).click()
  await eventually(async () => expect(await readStored()).toBe('first second [2J third\nfirst\n  second [2J\nthird\n'))
  await window.command('Paste into terminal')
  await eventually(async () => expect((await readStored()).split('third\n')).toHaveLength(4))
  expect(await question.count()).toBe(0)

  await terminal.press('Control+d')
  const long = `${'0123456789abcde\n'.repeat(20_000)}`
  await copies(window, long)
  await terminal.run('stty -echo; wc -c > long')
  await findMarks(page).getByRole('button', { name: 'stty -echo; wc -c > long: running' }).waitFor()
  await window.command('Paste into terminal')
  await terminal.press('Control+d')
  await eventually(async () =>
    expect((await app.client.call(readFile, { id, path: '/root/long' })).content.trim()).toBe(String(long.length)),
  )
})

test('shows link targets and lets programs copy and ring only as the user allows', async () => {
  const { window } = await openTerminal('links-box')
  const { page, terminal } = window
  const target = `http://elsewhere.localhost:${new URL(app.steward.serviceUrl).port}/v1/health?from=terminal`
  await terminal.run(
    `clear; printf '\\e]8;;${target}\\e\\\\good\\e]8;;\\e\\\\ \\e]8;;javascript:alert(1)\\e\\\\evil\\e]8;;\\e\\\\\\n'`,
  )
  await terminal.sees(/^good evil/m)
  const row = page.locator('[data-terminal]:visible .xterm-rows > div', { hasText: 'good evil' }).last()
  const hint = page.getByRole('tooltip')
  const pointAt = async (x: number) => {
    const { x: leftPx = 0, y: top = 0 } = (await row.boundingBox()) ?? {}
    await page.mouse.move(leftPx + x, top + 30)
    await page.mouse.move(leftPx + x, top + 8)
  }
  await pointAt(12)
  await hint.getByText(target).waitFor()
  const opened = page.context().waitForEvent('page')
  await page.keyboard.down('Control')
  await page.mouse.down()
  await page.mouse.up()
  await page.keyboard.up('Control')
  expect((await opened).url()).toBe(target)
  await (await opened).close()
  await pointAt(52)
  await hint.getByText('This cannot be opened from here').waitFor()

  const ask = page.getByRole('region', { name: 'A program wants to copy' })
  const offer = (text: string) => `printf '\\e]52;c;%s\\a' $(printf '${text}' | base64 -w0)`
  await copies(window, 'mine')
  await terminal.run(offer('from the sandbox'))
  await ask.getByText('from the sandbox').waitFor()
  await look(page, 'program-copies')
  expect(await clipboard(window)).toBe('mine')
  await ask.getByRole('button', { name: 'Allow' }).click()
  await eventually(async () => expect(await clipboard(window)).toBe('from the sandbox'))
  await terminal.run(offer('once more'))
  await eventually(async () => expect(await clipboard(window)).toBe('once more'))
  await terminal.run(`printf '\\e]52;c;?\\a'; IFS= read -rs -t 1 -n 1 answer; echo "answer=[$answer]"`)
  await terminal.sees('answer=[]')

  await window.newTerminal()
  await terminal.run(offer('refused'))
  await ask.getByRole('button', { name: 'Deny' }).click()
  await terminal.run(`${offer('again')}; echo offered`)
  await terminal.sees(/^offered$/m)
  expect(await ask.count()).toBe(0)
  expect(await clipboard(window)).toBe('once more')

  await terminal.run(`printf '\\a'; echo rang`)
  const bell = window.tabs().last().getByRole('img', { name: 'The bell rang' })
  await bell.waitFor()
  await look(page, 'bell')
  await terminal.press('Enter')
  await bell.waitFor({ state: 'detached' })
})

test('marks a program that needs attention until the user looks', async () => {
  const { id, window } = await openTerminal('calling-box')
  const { page, terminal } = window
  await terminal.run('cat')
  await window.tabs().getByText('cat', { exact: true }).waitFor()
  await terminal.press('Control+c')
  await terminal.run(
    `printf '\\e]9;Seen at once\\a'; until [ -e /tmp/go ]; do sleep 0.1; done; printf '\\e]777;notify;Claude;Approve <b>this</b>?\\a'; echo asked`,
  )
  await page.getByRole('button', { name: 'Domains', exact: true }).click()
  await app.client.call(execInSandbox, { id, command: 'touch /tmp/go' })
  const notice = page.getByText('A program in calling-box needs you')
  await notice.waitFor()
  expect(await page.getByText('Claude: Approve <b>this</b>?').count()).toBe(1)
  expect(await page.getByText('Seen at once').count()).toBe(0)
  await page.getByRole('button', { name: 'Terminals: 1 needs you' }).waitFor()
  await look(page, 'needs-you')
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await terminal.sees('asked')
  await notice.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Terminals', exact: true }).waitFor()

  await app.client.call(createTerminal, { id, command: `printf '\\e]9;Tests failed\\a'; sleep 100` })
  await window.tabs().getByRole('img', { name: 'Needs you: Tests failed' }).waitFor()
  await page.locator(`[data-sandbox="${id}"]`).getByRole('img', { name: 'Needs you' }).waitFor()
  await look(page, 'needs-you-marks')
  await window.tabs().last().click()
  await page.locator(`[data-sandbox="${id}"]`).getByRole('img', { name: 'Needs you' }).waitFor({ state: 'detached' })
})

test('keeps the scroll position while output arrives', async () => {
  const { id, window } = await openTerminal('flood-box')
  const { page, terminal } = window
  await terminal.run(
    'mkfifo go; clear; seq 1 300; read < go; printf "\\e[2J\\e[3J\\e[H"; seq 1 300; seq -f "flood %g" 1 5000',
  )
  await terminal.sees(/^300$/m)
  await terminal.press('Shift+PageUp')
  await terminal.press('Shift+PageUp')
  await eventually(async () => expect(Number(await topRow(window))).toBeLessThan(200))
  const before = await terminal.rows()
  // The output comes from another client, because typing would scroll to the end.
  await app.client.call(execInSandbox, { id, command: 'echo > /root/go' })
  const news = page.getByRole('button', { name: 'New output' })
  await news.waitFor()
  await eventually(async () => expect(await terminal.rows()).toEqual(before))
  await look(page, 'new-output')
  await news.click()
  await terminal.sees(/^flood 5000$/m)
  await news.waitFor({ state: 'detached' })
})

test('applies terminal preferences, including after a reload', async () => {
  const { id, window } = await openTerminal('chosen-box')
  const { page, terminal } = window
  const readBackground = () =>
    page.locator('[data-terminal]:visible').evaluate((element) => getComputedStyle(element).backgroundColor)
  const preferences = window.dialog('Terminal preferences')
  const defaultBackground = await readBackground()
  await terminal.press('Control+,')
  await preferences.getByRole('radio', { name: 'Midnight' }).check()
  await look(page, 'terminal-preferences')
  await page.emulateMedia({ colorScheme: 'dark' })
  await preferences.getByLabel('Copy on select').check()
  await preferences.getByLabel('Size').fill('18')
  await preferences.getByRole('button', { name: 'Done' }).click()
  await preferences.waitFor({ state: 'hidden' })
  expect(await readBackground()).toBe('rgb(17, 21, 42)')

  // A program that queries the background color gets exactly one reply, regardless of the number of viewers.
  const second = appWindow(await page.context().newPage())
  await second.open(page.url())
  await second.terminal.isLive()
  await terminal.run(
    `stty -echo; printf '\\e]11;?\\a\\e[c'; IFS= read -rsd c answer; stty echo; printf '%q\\n' "$answer"`,
  )
  await terminal.sees(/11;rgb:[^;]*;?[^;]*\[\?/)
  const answer = (await terminal.rows()).join('').match(/rgb:[0-9a-f/]+/g)
  expect(answer).toEqual(['rgb:1111/1515/2a2a'])

  await window.reload()
  await terminal.isLive()
  expect(await readBackground()).toBe('rgb(17, 21, 42)')
  await copies(window, 'before')
  await terminal.run('clear; echo selected-word')
  await terminal.sees(/^selected-word$/m)
  const word = page.locator('[data-terminal]:visible .xterm-rows > div', { hasText: /^selected-word/ })
  const { x = 0, y = 0 } = (await word.boundingBox()) ?? {}
  await page.mouse.dblclick(x + 30, y + 8)
  await eventually(async () => expect(await clipboard(window)).toBe('selected-word'))

  await page.evaluate(() => localStorage.setItem('steward.terminal.preferences', '{"version":1,"fontSize":"huge",'))
  await window.reload()
  await terminal.isLive()
  await terminal.sees('selected-word')
  expect(await readBackground()).toBe(defaultBackground)
  await window.command('Terminal preferences…')
  expect(await preferences.getByLabel('Size').inputValue()).toBe('13')
  await preferences.getByRole('radio', { name: 'Pine' }).check()
  await preferences.getByRole('button', { name: 'Reset to defaults' }).click()
  expect(await preferences.getByRole('radio', { name: 'Steward dark' }).isChecked()).toBe(true)
  expect((await app.client.call(listTerminals, { id })).sessions).toHaveLength(1)
})

test('never renders a synchronized update partially', async () => {
  const { page, close } = await openWindow(app.browser)
  onTestFinished(close)
  await page.clock.install()
  await page.setContent('<div id="screen"></div>')
  await page.addScriptTag({ path: createRequire(import.meta.url).resolve('@xterm/xterm') })
  const draws = (output: string) =>
    page.evaluate((text) => {
      type Drawing = { open(element: Element | null): void; write(text: string): void }
      const shared = globalThis as unknown as { Terminal: new (size: object) => Drawing; drawing: Drawing | undefined }
      if (!shared.drawing) {
        shared.drawing = new shared.Terminal({ cols: 8, rows: 4 })
        shared.drawing.open(document.querySelector('#screen'))
      }
      shared.drawing.write(text)
    }, output)
  const rows = () => page.locator('.xterm-rows > div').allTextContents()
  const repeatRows = (letter: string) => Array.from({ length: 4 }, () => letter.repeat(8))

  await draws(`\x1b[H${repeatRows('a').join('\r\n')}`)
  await page.clock.runFor(200)
  expect(await rows()).toEqual(repeatRows('a'))
  await draws(`\x1b[?2026h\x1b[2J\x1b[H${repeatRows('b').slice(2).join('\r\n')}`)
  await page.clock.runFor(200)
  expect(await rows()).toEqual(repeatRows('a'))
  await draws(`\r\n${repeatRows('b').slice(2).join('\r\n')}\x1b[?2026l`)
  await page.clock.runFor(200)
  expect(await rows()).toEqual(repeatRows('b'))
})
