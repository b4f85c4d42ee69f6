import { afterAll, beforeAll, expect, test } from 'vitest'
import { execInSandbox, listSandboxes, startSandbox, stopSandbox } from '#shared/contract/sandboxes.ts'
import { createTerminal, listTerminals } from '#shared/contract/terminals.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { isAlive, listProcesses } from '../support/assertions/processes.ts'
import { listSandboxResources } from '../support/assertions/sandboxResources.ts'
import type { Steward } from '../support/processes/steward.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

let app: StewardInBrowser<Steward>

beforeAll(async () => {
  app = await ownStewardInBrowser()
})
afterAll(() => app?.close())

test('creates a sandbox and types in its first terminal', async () => {
  const window = await app.window()
  await window.createSandbox({ name: 'first-box', vcpu: 2 })
  await window.terminal.isLive()
  await window.terminal.run('echo answer $((6 * 7)) on $(hostname)')
  await window.terminal.sees('answer 42 on first-box')
  expect(await window.sandbox('first-box').textContent()).toContain('2 vCPU')
})

test('renders vim, which saves the typed text', async () => {
  const { id } = await app.sandbox('vim-box')
  await app.client.call(createTerminal, { id, command: 'bash' })
  const window = await app.window()
  await window.select('vim-box')
  await window.terminal.isLive()
  await window.terminal.run('vim -u NONE notes.txt')
  await window.terminal.sees(/^~$/m)
  await window.terminal.type('ihello from vim')
  await window.terminal.sees('hello from vim')
  await window.terminal.press('Escape')
  await window.terminal.run(':wq')
  await window.terminal.sees(/notes\.txt\nroot@\S+#/)
  await window.terminal.run('echo read: $(cat notes.txt)')
  await window.terminal.sees('read: hello from vim')
})

test('reports the terminal size to the program', async () => {
  const { id } = await app.sandbox('size-box')
  await app.client.call(createTerminal, { id, command: 'bash' })
  const window = await app.window()
  await window.select('size-box')
  await window.terminal.isLive()
  /**
   * Reads the size that the program reports once it equals the displayed one. It may arrive after the window has
   * changed.
   */
  const readSize = async () => {
    await window.terminal.run('while clear; echo "size is $(stty size)"; do sleep 0.2; done')
    const size = await until('the program to know the size', async () => {
      const rows = await window.terminal.rows()
      return rows.find((row) => row.startsWith(`size is ${rows.length} `))
    })
    await window.terminal.press('Control+c')
    return size
  }
  const before = { rows: (await window.terminal.rows()).length, size: await readSize() }
  await window.page.setViewportSize({ width: 900, height: 500 })
  await eventually(async () => expect((await window.terminal.rows()).length).toBeLessThan(before.rows))
  expect(await readSize()).not.toBe(before.size)
})

test('restores the terminal after a reload', async () => {
  const { id } = await app.sandbox('reload-box')
  await app.client.call(createTerminal, { id, command: 'bash' })
  const window = await app.window()
  await window.select('reload-box')
  await window.terminal.isLive()
  await window.terminal.run('kept=remembered; seq 1 100; echo end of $kept output')
  await window.terminal.sees(/^end of remembered output\n.*[#$]$/m)
  const before = await window.terminal.rows()

  await window.reload()
  await window.terminal.isLive()
  await eventually(async () => expect(await window.terminal.rows()).toEqual(before))
  await window.terminal.run('echo still $kept')
  await window.terminal.sees('still remembered')
})

test('restores the terminal after the service is killed', async () => {
  const { id } = await app.sandbox('crash-box')
  const { session_id } = await app.client.call(createTerminal, { id, command: 'bash' })
  const window = await app.window()
  await window.select('crash-box')
  await window.terminal.isLive()
  await window.terminal.run('kept=survivor; seq 1 300; echo last line')
  await window.terminal.sees('last line')

  const { service, host } = app.steward.pids()
  process.kill(service, 'SIGKILL')
  await window.terminal.run('echo typed meanwhile by $kept')
  await until(
    'another service runs',
    () => app.steward.pids().service !== service && isAlive(app.steward.pids().service),
  )
  await window.terminal.isLive()
  await window.terminal.sees('typed meanwhile by survivor')
  expect(app.steward.pids().host).toBe(host)

  const terminal = `${app.steward.serviceUrl}/v1/sandboxes/${id}/pty/${session_id}`
  await eventually(async () => {
    const reply = await fetch(`${terminal}/read?full=true`, { headers: { 'x-api-key': app.steward.ownerKey } })
    const { output } = (await reply.json()) as { output: string }
    expect(output.split('\n').filter((line) => /^\d+$/.test(line))).toEqual(
      Array.from({ length: 300 }, (_, index) => String(index + 1)),
    )
  })
})

test('shows the exit status of a program and runs it again', async () => {
  const { id } = await app.sandbox('end-box')
  await app.client.call(createTerminal, { id, command: 'bash' })
  const window = await app.window()
  await window.select('end-box')
  await window.terminal.isLive()
  await window.terminal.run('echo goodbye; exit 3')
  const end = window.page.getByRole('region', { name: 'Terminal ended' }).and(window.page.locator(':visible'))
  await end.getByText('Exited with code 3').waitFor()
  await window.terminal.sees('goodbye')

  await end.getByRole('button', { name: /^Restart/ }).click()
  await window.terminal.isLive()
  await window.terminal.run('echo here again')
  await window.terminal.sees('here again')
})

test('asks before stopping a running program, shows the reason and restarts on Enter', async () => {
  const { id } = await app.sandbox('editing-box')
  for (const _ of [1, 2]) await app.client.call(createTerminal, { id, command: 'bash' })
  const window = await app.window()
  const { page, terminal } = window
  await window.select('editing-box')
  await terminal.isLive()
  await terminal.run('sleep 1000')
  await until('it to run', async () => {
    const { exit_code } = await app.client.call(execInSandbox, { id, command: 'pgrep -x sleep' })
    return exit_code === 0
  })

  await window.command('Stop editing-box…')
  const question = window.dialog('Stop editing-box?')
  await question.getByText('sleep 1000').waitFor()
  const cancel = question.getByRole('button', { name: 'Cancel' })
  await until('Cancel to have the focus', () =>
    cancel.evaluate((element) => element === element.ownerDocument.activeElement),
  )
  await page.keyboard.press('Enter')
  await question.waitFor({ state: 'hidden' })
  await window.command('Stop editing-box…')
  await question.getByRole('button', { name: 'Stop sandbox' }).click()
  const end = page.getByRole('region', { name: 'Terminal ended' }).locator('visible=true')
  await end.getByText('Ended when the sandbox stopped').waitFor()

  await app.client.call(startSandbox, { id })
  await end.getByText('Ended when the sandbox restarted').waitFor()
  await end.getByRole('button', { name: 'Restart all' }).waitFor()
  await page.locator('[data-terminal]:visible .xterm-helper-textarea').focus()
  await page.keyboard.press('Enter')
  await terminal.isLive()
  await terminal.run('echo here again')
  await terminal.sees('here again')

  await app.client.call(stopSandbox, { id })
  await app.client.call(startSandbox, { id })
  await end.getByRole('button', { name: 'Restart all' }).click()
  await until('both terminals to run again', async () => {
    const { sessions } = await app.client.call(listTerminals, { id })
    return sessions.filter(({ state }) => state === 'running').length === 2
  })
  await terminal.isLive()
})

test('finds text in terminal output', async () => {
  const { id } = await app.sandbox('search-box')
  await app.client.call(createTerminal, { id, command: 'bash' })
  const window = await app.window()
  await window.select('search-box')
  await window.terminal.isLive()
  await window.terminal.run('seq 1 400; echo done')
  await window.terminal.sees(/^done$/m)
  await window.terminal.press('Control+Shift+F')
  const search = window.page.getByRole('search', { name: 'Search in terminal' })
  await search.getByRole('textbox').fill('137')
  await search.getByText('1 of 1', { exact: true }).waitFor()
  await window.terminal.sees(/^137$/m)
  await search.getByRole('textbox').press('Escape')
  await search.waitFor({ state: 'hidden' })
})

test('opens each terminal in a separate tab', async () => {
  const { id } = await app.sandbox('tab-box')
  await app.client.call(createTerminal, { id, command: 'bash' })
  const window = await app.window()
  await window.select('tab-box')
  await window.terminal.isLive()
  await window.terminal.run('echo in the first; sleep 1000')
  await window.terminal.sees(/^in the first$/m)
  await window.newTerminal()
  expect(await window.tabs().count()).toBe(2)
  await window.terminal.run('ps -e | grep -c sleep')
  await window.terminal.sees(/^[1-9]$/m)
  await window.tabs().first().click()
  await window.terminal.sees(/^in the first$/m)
})

test('terminal and exec share one sandbox, and top shows only its processes', async () => {
  const { id } = await app.sandbox('one-box')
  await app.client.call(createTerminal, { id, command: 'bash' })
  const window = await app.window()
  await window.select('one-box')
  await window.terminal.isLive()
  await window.terminal.run('echo served from $(tty) > index.html; python3 -m http.server --bind 127.0.0.1 8123')
  await window.terminal.sees('Serving HTTP')
  const { stdout } = await app.client.call(execInSandbox, { id, command: 'curl -s http://127.0.0.1:8123/index.html' })
  expect(stdout).toMatch(/^served from \/dev\/pts\/\d+\n$/)
  await window.terminal.sees('GET /index.html')

  await window.newTerminal()
  await window.terminal.run('top')
  await window.terminal.sees(/Tasks: +\d+ total/)
  await window.terminal.sees('python3')
  const readVisible = async () =>
    (await window.terminal.rows()).filter((row) => /^ *\d+ \w+ /.test(row)).map((row) => row.split(/ +/).at(-1))
  await eventually(async () => expect(await readVisible()).toEqual(expect.arrayContaining(['top', 'python3', 'bash'])))
  expect(await readVisible()).not.toContain('chromium')
  await window.terminal.press('q')
})

test('deletes a sandbox without leftovers', async () => {
  const { id, name } = await app.sandbox('gone-box')
  await app.client.call(createTerminal, { id, command: 'bash' })
  const window = await app.window()
  await window.select(name)
  await window.terminal.isLive()
  const sleep = `sleep 9${Number.parseInt(id.slice(0, 8), 16)}` // unique on this computer
  await window.terminal.run(`(setsid ${sleep} &) ; echo something > file; ${sleep}`)
  const sleepers = () => listProcesses().filter(({ command }) => command === sleep)
  await eventually(() => expect(sleepers()).toHaveLength(2))

  await window.command(`Delete ${name}`)
  const question = window.dialog(`Delete ${name}?`)
  await question.getByText('All files are deleted').waitFor()
  await question.getByRole('button', { name: 'Delete sandbox' }).click()
  await question.waitFor({ state: 'hidden' })
  await window.sandbox(name).waitFor({ state: 'detached' })

  const { sandboxes } = await app.client.call(listSandboxes, {})
  expect(sandboxes.map((it) => it.id)).not.toContain(id)
  await eventually(async () => {
    const left = await listSandboxResources({ id, folder: app.steward.dataFolder })
    expect({ sleepers: sleepers(), left }).toEqual({ sleepers: [], left: [] })
  })
})
