import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MenuItemConstructorOptions } from 'electron'
import { expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { Intent, IntentRecord } from '#shared/contract/intents.ts'
import { LocalEvent } from '#shared/contract/localApi.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { openPersonSession } from '../support/clients/personSession.ts'
import { sendSecurePrompt } from '../support/clients/securePromptForms.ts'
import type * as Fake from '../support/fakes/fakeElectron.ts'
import { payment, signInTo } from '../support/fixtures/approvals.ts'
import { openTestWallet } from '../support/fixtures/openTestWallet.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { startProgram } from '../support/processes/program.ts'

type Electron = typeof Fake

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** Loads a new Electron fake for each test, as for a new process. */
async function freshElectron(): Promise<Electron> {
  vi.resetModules()
  return (await import('electron')) as unknown as Electron // vitest.config.ts replaces Electron with the fake
}

/** Runs the real main.ts, with its real service, in this process. */
async function startMain(electron: Electron, dataFolder: string, parts: readonly string[] = []): Promise<void> {
  const argv = process.argv
  process.argv = ['electron', '--inspect=0', 'out/main/main.js', '--data', dataFolder, ...parts]
  const listening = signals.map((name) => [name, process.listeners(name)] as const)
  onTestFinished(async () => {
    process.argv = argv
    await quit(electron)
    // Restores the signal handlers of this test process.
    for (const [name, before] of listening) {
      for (const listener of process.listeners(name)) if (!before.includes(listener)) process.off(name, listener)
    }
    await startProgram('scripts/start.ts', ['stop', '--data', dataFolder]).ended
  })
  await import('#entries/main.ts')
}

async function startWindow(dataFolder = temporaryFolder('data')) {
  const electron = await freshElectron()
  const written = vi.spyOn(process.stdout, 'write').mockImplementation(() => true)
  onTestFinished(() => written.mockRestore())
  await startMain(electron, dataFolder, ['--json'])
  const window = await until('the window', () => electron.electronState.windows[0])
  const line = await until('the ready line', () => written.mock.calls.map(([text]) => String(text)).find(isReady))
  const ready = JSON.parse(line) as { url: string; service_url: string }
  return { electron, window, ready, origin: new URL(ready.url).origin, dataFolder }
}

const isReady = (text: string) => text.startsWith('{"event":"ready"')

async function quit({ app, electronState }: Electron): Promise<void> {
  if (electronState.exitCodes.length === 0) app.quit()
  await until('the application exited', () => electronState.exitCodes.length > 0)
}

test('isolates the window per Electron advice and opens the local interface with its token', async () => {
  const { electron, window, ready, origin, dataFolder } = await startWindow()
  expect(window.options.webPreferences).toEqual({
    preload: expect.stringMatching(/out[/\\]preload[/\\]preload\.cjs$/),
    contextIsolation: true,
    sandbox: true,
    nodeIntegration: false,
    nodeIntegrationInWorker: false,
    nodeIntegrationInSubFrames: false,
    webSecurity: true,
    allowRunningInsecureContent: false,
    experimentalFeatures: false,
    webviewTag: false,
    navigateOnDragDrop: false,
    spellcheck: false,
  })
  expect(electron.electronState).toMatchObject({ sandboxEnabled: true, askedForOnlyInstance: true })
  expect(electron.electronState.paths).toEqual({ userData: join(dataFolder, 'window') })
  expect(window.urls).toEqual([ready.url])
  expect(ready.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}$/)
  expect(window.shown).toBe(true)
  const status = await fetch(`${origin}/local/status`)
  expect(status.status).toBe(401)
  expect(status.headers.get('content-security-policy')).toContain("default-src 'none'")
})

test('grants pages two permissions and no device access', async () => {
  const { electron, origin } = await startWindow()
  const { requestPermission, checkPermission, allowDevice } = electron.electronPlay
  expect(await requestPermission('clipboard-sanitized-write', `${origin}/`)).toBe(true)
  expect(checkPermission('clipboard-sanitized-write', `${origin}/`)).toBe(true)
  expect(await requestPermission('clipboard-sanitized-write', 'https://attacker.example/')).toBe(false)
  expect(checkPermission('clipboard-sanitized-write', 'https://attacker.example')).toBe(false)
  expect(await requestPermission('notifications', `${origin}/`)).toBe(true)
  expect(await requestPermission('notifications', 'https://attacker.example/')).toBe(false)
  for (const permission of ['media', 'geolocation', 'clipboard-read', 'openExternal', 'usb', 'unknown']) {
    expect(await requestPermission(permission, `${origin}/`), permission).toBe(false)
    expect(checkPermission(permission, origin), permission).toBe(false)
  }
  expect(allowDevice()).toBe(false)
})

test('the window remains on the local interface and opens links in the browser', async () => {
  const { electron, window, origin } = await startWindow()
  const { FakeEvent, electronState } = electron
  const happens = (name: string, url: string, isMainFrame = true) => {
    const event = new FakeEvent(url, isMainFrame)
    window.webContents.emit(name, event)
    return event.prevented
  }
  expect(happens('will-navigate', `${origin}/sandboxes`)).toBe(false)
  expect(happens('will-redirect', `${origin}/sandboxes`)).toBe(false)
  const foreign = [
    'http://127.0.0.1:1/',
    'http://localhost:1/',
    'http://[::1]:1/',
    'https://localhost:1/',
    'https://LOCALHOST./',
    'https://a.localhost:1/',
    'https://127.9.8.7:1/',
    'http://127.1./',
    'https://[::1]/',
    'http://[::ffff:127.0.0.1]:1/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/html,x',
    'about:blank',
    `http://wallet.localhost:${new URL(origin).port}/prompt/a`,
    'http://wallet.localhost:4000/',
  ]
  for (const url of foreign) {
    expect(happens('will-navigate', url), url).toBe(true)
    expect(happens('will-redirect', url), url).toBe(true)
    expect(window.webContents.openHandler?.({ url }), url).toEqual({ action: 'deny' })
  }
  expect(happens('will-frame-navigate', `${origin}/`, false)).toBe(true)
  const preview = 'http://3000-0a1b.localhost:4000/'
  expect(happens('will-frame-navigate', preview, false)).toBe(false)
  expect(happens('will-redirect', preview, false)).toBe(false)
  const wallet = `http://wallet.localhost:${new URL(origin).port}`
  expect(happens('will-frame-navigate', `${wallet}/prompt/a`, false)).toBe(false)
  expect(happens('will-redirect', `${wallet}/prompt/a`, false)).toBe(true)
  for (const url of [`${wallet}/`, `${wallet}/local/wallet`, 'http://wallet.localhost:1/prompt/a']) {
    expect(happens('will-frame-navigate', url, false), url).toBe(true)
  }
  expect(happens('will-frame-navigate', `https://wallet.localhost:${new URL(origin).port}/prompt/a`, false)).toBe(true)
  expect(happens('will-redirect', 'https://example.com/', false)).toBe(true)
  expect(happens('will-redirect', preview)).toBe(true)
  expect(happens('will-attach-webview', '')).toBe(true)
  expect(electronState.openedOutside).toEqual([])
  expect(window.webContents.openHandler?.({ url: 'https://example.com/a?b' })).toEqual({ action: 'deny' })
  expect(happens('will-navigate', 'https://example.com/c')).toBe(true)
  expect(window.webContents.openHandler?.({ url: 'http://example.com/' })).toEqual({ action: 'deny' })
  expect(window.webContents.openHandler?.({ url: 'mailto:ada@example.com' })).toEqual({ action: 'deny' })
  expect(window.webContents.openHandler?.({ url: preview })).toEqual({ action: 'deny' })
  expect(electronState.openedOutside).toEqual([
    'https://example.com/a?b',
    'https://example.com/c',
    'http://example.com/',
    'mailto:ada@example.com',
    preview,
  ])
})

test('a window with unsaved changes closes only when the user confirms', async () => {
  const { electron, window } = await startWindow()
  const { FakeEvent, electronPlay, electronState } = electron
  const closes = (pressed: number): boolean => {
    electronPlay.pressed = pressed
    const event = new FakeEvent()
    window.webContents.emit('will-prevent-unload', event)
    return event.prevented
  }
  expect([closes(0), closes(1)]).toEqual([false, true])
  expect(electronState.messageBoxes).toMatchObject([{ hasParent: true }, { hasParent: true }])
})

test('a second instance focuses the first and does nothing else', async () => {
  const { electron, window } = await startWindow()
  window.minimized = true
  electron.app.emit('second-instance')
  expect([window.minimized, window.focused]).toEqual([false, 1])
  await quit(electron)

  const second = await freshElectron()
  second.electronPlay.isOnlyInstance = false
  await startMain(second, temporaryFolder('data'))
  await until('the second has ended', () => second.electronState.exitCodes.length > 0)
  expect(second.electronState).toMatchObject({ exitCodes: [0], windows: [] })
})

test('has a single menu that opens the API documentation', async () => {
  const { electron, origin } = await startWindow()
  expect(electron.electronState.menus).toHaveLength(1)
  const items = flat(electron.electronState.menus[0] ?? [])
  items.find((item) => item.label === 'API documentation')?.click?.({} as never, undefined, {} as never)
  expect(electron.electronState.openedOutside).toEqual([`${origin}/docs`])
})

test.each([
  [
    'linux',
    ['Ctrl+Shift+W', 'Ctrl+Shift+Q', 'Ctrl+Shift+R'],
    ['close', 'quit', 'editMenu', 'reload', 'toggleDevTools'],
  ],
  ['darwin', ['Cmd+R'], ['appMenu', 'editMenu', 'windowMenu', 'reload', 'toggleDevTools']],
] as const)('the menu on %s does not use the keys of terminals', async (platform, accelerators, roles) => {
  const electron = await freshElectron()
  const { setApplicationMenu } = await import('#shell/applicationMenu.ts')
  setApplicationMenu('http://127.0.0.1:1', platform)
  const items = flat(electron.electronState.menus[0] ?? [])
  expect(items.flatMap((item) => item.accelerator ?? [])).toEqual(accelerators)
  for (const role of roles) expect(items.map((item) => item.role)).toContain(role)
  // The shortcut of Minimize would be Ctrl-M, which is Enter.
  expect(items.map((item) => item.role)).not.toContain('minimize')
})

test('restores the window bounds and the system colors', async () => {
  const dataFolder = temporaryFolder('data')
  mkdirSync(dataFolder, { recursive: true })
  const state = { bounds: { x: 100, y: 50, width: 1000, height: 600 }, maximized: true }
  writeFileSync(join(dataFolder, 'window.json'), JSON.stringify(state))
  const { electron, window } = await startWindow(dataFolder)
  expect(window.options).toMatchObject({ ...state.bounds, backgroundColor: '#ffffff' })
  expect(window.maximized).toBe(true)
  electron.nativeTheme.shouldUseDarkColors = true
  electron.nativeTheme.emit('updated')
  expect(window.background).toBe('#101113')
  window.maximized = false
  window.close()
  expect(JSON.parse(readFileSync(join(dataFolder, 'window.json'), 'utf8'))).toEqual({
    bounds: window.bounds,
    maximized: false,
  })
  expect(electron.nativeTheme.listenerCount('updated')).toBe(0)
  await eventually(() => expect(electron.electronState.exitCodes).toEqual([0]))
  expect(existsSync(join(dataFolder, 'steward.lock'))).toBe(false)
  expect(existsSync(join(dataFolder, 'service.lock'))).toBe(false)
})

test('discards a window position outside all displays but restores the size', async () => {
  const dataFolder = temporaryFolder('data')
  const state = { bounds: { x: 5000, y: 50, width: 1000, height: 600 }, maximized: false }
  writeFileSync(join(dataFolder, 'window.json'), JSON.stringify(state))
  const { window } = await startWindow(dataFolder)
  expect(window.options).toMatchObject({ width: 1000, height: 600 })
  expect(window.options).not.toHaveProperty('x')
})

const passphrase = 'several words of a person'

/** Starts the window with an unlocked wallet and its session, and a program with the owner's key. */
async function startWithWallet() {
  const dataFolder = temporaryFolder('data')
  writeFileSync(join(dataFolder, 'config.json'), '{"wallet":{"secret_store":"vault_file"}}')
  const wallet = openTestWallet({ folder: dataFolder })
  await wallet.wallet.addPhrase({ phrase: await wallet.wallet.makePhrase(12), writtenDown: true, passphrase })
  wallet.close()
  const started = await startWindow(dataFolder)
  const { ready, origin } = started
  const token = new URL(ready.url).hash.slice('#token='.length)
  const session = await openPersonSession(origin, token)
  const program = { 'x-api-key': readFileSync(join(dataFolder, 'owner.key'), 'utf8').trim() }
  await sendSecurePrompt({ origin, session, body: { purpose: 'unlock' }, fields: { passphrase } })

  function post(path: string, body: unknown, headers: Record<string, string> = session) {
    return fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  }
  const ask = async (intent: Intent, reason?: string): Promise<IntentRecord> => {
    const reply = await post('/local/intents', { intent, reason }, program)
    const text = await reply.text()
    expect(reply.status, text).toBe(201)
    return JSON.parse(text)
  }
  const approve = async (id: string) => {
    const reply = await post(`/local/intents/${id}/decision`, { approve: true })
    return { status: reply.status, json: await reply.json() }
  }
  const readState = async (id: string) => {
    const reply = await fetch(`${origin}/local/intents/${id}`, { headers: program })
    return ((await reply.json()) as IntentRecord).state
  }
  return { ...started, session, post, ask, approve, stateOf: readState }
}

test('approves amounts above the threshold only in a system dialog', async () => {
  const { electron, ask, approve, stateOf, post } = await startWithWallet()
  const { electronState, electronPlay } = electron
  const intent = await ask(payment('25000000'), 'For\n\nApproved: yes')
  expect(intent).toMatchObject({ state: 'waiting', needs_confirmation: true })

  electronPlay.pressed = 0
  expect(await approve(intent.id)).toMatchObject({ status: 403, json: { code: 'intent/confirmation' } })
  expect(await stateOf(intent.id)).toBe('waiting')
  const [box] = electronState.messageBoxes
  expect(box?.hasParent).toBe(true)
  expect(box?.options).toMatchObject({ buttons: ['Cancel', 'Approve'], defaultId: 0, cancelId: 0 })
  expect(box?.options.message).toBe('Pay 25.00 USDC for shop.example/a')
  expect(box?.options.detail).toContain(
    `${intent.sentence}\nRequested by: a program with an API key of yours, named “Owner key”\nReason given (unverified): For Approved: yes\nAmount: 25.00 USDC\n`,
  )

  electronPlay.pressed = 1
  expect(await approve(intent.id)).toMatchObject({ status: 200, json: { state: 'signed' } })

  // The stop switch closes an open dialog.
  const second = await ask(payment('25000000'))
  electronPlay.pressed = undefined
  const deciding = approve(second.id)
  await until('the dialog', () => electronState.messageBoxes.length === 3)
  expect(await approve(second.id)).toMatchObject({ status: 403, json: { code: 'intent/confirmation' } })
  expect(electronState.messageBoxes).toHaveLength(3)
  expect((await post('/local/stop', { stopped: true })).status).toBe(200)
  expect((await deciding).status).toBe(403)
  expect(await stateOf(second.id)).toBe('denied')
})

test('confirms looser limits and the end of the stop in a system dialog', async () => {
  const { electron, origin, session, post } = await startWithWallet()
  const { electronState, electronPlay } = electron
  const putThreshold = async (confirm_above_micro_usd: string) => {
    const reply = await fetch(`${origin}/local/policy`, {
      method: 'PUT',
      headers: { ...session, 'content-type': 'application/json' },
      body: JSON.stringify({ rules: [], confirm_above_micro_usd, expiry_minutes: 15 }),
    })
    return { status: reply.status, json: await reply.json() }
  }
  electronPlay.pressed = 0
  expect(await putThreshold('99000000')).toMatchObject({ status: 403, json: { code: 'policy/confirmation' } })
  expect(electronState.messageBoxes).toMatchObject([
    {
      hasParent: true,
      options: {
        defaultId: 0,
        cancelId: 0,
        detail: 'Extra confirmation: above $99.00, was above $10.00',
      },
    },
  ])
  expect(await putThreshold('9000000')).toMatchObject({ status: 200 })
  expect((await post('/local/stop', { stopped: true })).status).toBe(200)
  expect((await post('/local/stop', { stopped: false })).status).toBe(403)
  expect(electronState.messageBoxes).toHaveLength(2)
  electronPlay.pressed = 1
  expect((await post('/local/stop', { stopped: false })).status).toBe(200)
  expect(await putThreshold('99000000')).toMatchObject({ status: 200, json: { confirm_above_micro_usd: '99000000' } })
})

test('announces waiting requests while the window is unfocused, and a click opens them', async () => {
  const { electron, window, origin, session, ask } = await startWithWallet()
  const { electronState, electronPlay } = electron
  const events: LocalEvent[] = []
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/local/events`, { headers: session })
  socket.on('message', (data) => events.push(LocalEvent.parse(JSON.parse(String(data)))))
  onTestFinished(() => socket.terminate())
  await until('the line to the events', () => events.length > 0)

  await ask(signInTo('a.example'))
  expect(electronState.notifications).toEqual([])
  window.hasFocus = false
  electronPlay.canNotify = false
  await ask(signInTo('b.example'))
  expect(electronState.notifications).toEqual([])
  electronPlay.canNotify = true
  const intent = await ask(signInTo('c.example'))
  expect(electronState.notifications.map(({ options }) => options)).toEqual([
    {
      title: 'Approval required',
      body: `${intent.sentence}\nRequested by a program with an API key of yours, named “Owner key”.`,
    },
  ])
  window.minimized = true
  electronState.notifications[0]?.emit('click')
  expect([window.minimized, window.isFocused()]).toEqual([false, true])
  await eventually(() => expect(events).toContainEqual({ type: 'intent.show', intent_id: intent.id }))
})

test('a failed start reports the reason with a matching exit code', async () => {
  const dataFolder = temporaryFolder('data')
  writeFileSync(join(dataFolder, 'config.json'), '{"app":{"listn":1}}')
  const electron = await freshElectron()
  const written = vi.spyOn(process.stderr, 'write').mockImplementation(() => true)
  onTestFinished(() => written.mockRestore())
  await startMain(electron, dataFolder)
  await until('the end', () => electron.electronState.exitCodes.length > 0)
  expect(electron.electronState.exitCodes).toEqual([2])
  expect(electron.electronState.errorBoxes).toEqual([
    { title: 'Steward cannot start', text: expect.stringContaining('`app.listn`') },
  ])
  expect(electron.electronState.windows).toEqual([])
})

test('the page receives its shell and platform but can change neither', async () => {
  const { exposed } = await freshElectron()
  await import('#preload/preload.ts')
  expect(exposed).toEqual({ steward: { shell: 'electron', platform: process.platform } })
  expect(Object.isFrozen(exposed.steward)).toBe(true)
})

function flat(items: readonly MenuItemConstructorOptions[]): MenuItemConstructorOptions[] {
  return items.flatMap((item) => [item, ...(Array.isArray(item.submenu) ? flat(item.submenu) : [])])
}

test('locks the wallet with the screen and before this computer sleeps', async () => {
  const electron = await freshElectron()
  const { runDesktop } = await import('#shell/desktop.ts')
  let locked = 0
  await runDesktop({
    dataFolder: temporaryFolder('data'),
    preloadFile: 'preload.cjs',
    iconFile: 'icon.png',
    start: async () => ({
      origin: 'http://127.0.0.1:1',
      serviceUrl: 'http://127.0.0.1:2',
      freshUrl: () => 'http://127.0.0.1:1/#token=one',
      lockWallet() {
        locked += 1
      },
      close: async () => {},
    }),
    onReady: () => {},
    failure: (cause) => ({ text: String(cause), exitCode: 1 }),
  })
  expect(electron.electronState.errorBoxes).toEqual([])
  electron.powerMonitor.emit('lock-screen')
  expect(locked).toBe(1)
  electron.powerMonitor.emit('suspend')
  expect(locked).toBe(2)
})
