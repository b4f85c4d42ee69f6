import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { Scope } from '#platform/program/scope.ts'
import type { HostEvent } from '#shared/contract/hostIpc.ts'
import type { ServerStreamMessage } from '#shared/contract/terminalStream.ts'
import type { SandboxId, TerminalId } from '#shared/ids.ts'
import { eventually, until } from '#test/support/assertions/eventually.ts'
import { newSandboxId, newTerminalId } from '#test/support/clients/hostClient.ts'
import { createFakeRuntime } from '#test/support/fakes/fakeRuntime.ts'
import { createHangingScreenWorker } from '#test/support/fakes/hangingScreenWorker.ts'
import { createSandboxSpec } from '#test/support/fixtures/sandboxSpecs.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import type { SandboxInstance } from '../runtimes/sandboxRuntime.ts'
import { openTerminals, type Terminals } from './terminals.ts'
import { createScreenPool, type ScreenPool } from './worker/screenPool.ts'

let scope: Scope
let folder: string
let events: HostEvent[]
let sandbox: SandboxInstance
let sandboxId: SandboxId

beforeEach(async () => {
  scope = new Scope()
  folder = join(temporaryFolder('terminals'), 'terminals')
  events = []
  sandboxId = newSandboxId()
  const runtime = createFakeRuntime({ folder: temporaryFolder('machines') })
  const spec = createSandboxSpec({ id: sandboxId, runtime: 'local' })
  sandbox = await runtime.create(spec, new AbortController().signal)
})

afterEach(async () => {
  await sandbox.stop()
  await scope.close()
})

async function open(
  options: {
    exitedReadableMs?: number
    maxEnded?: { perSandbox: number; bytes: number }
    workerUrl?: URL
    stuckMs?: number
    onEvent?: (event: HostEvent) => void
  } = {},
): Promise<Terminals> {
  const { workerUrl = new URL('./worker/screenWorker.ts', import.meta.url), stuckMs, ...rest } = options
  const watched = stuckMs === undefined ? {} : { stuckMs }
  const pool = scope.own(createScreenPool({ workerUrl, workers: 1, ...watched, log: silentLog }), (it) => it.close())
  const onEvent = (event: HostEvent) => void events.push(event)
  return scope.own(await openTerminals({ folder, pool, onEvent, now: Date.now, log: silentLog, ...rest }), (it) =>
    it.close(),
  )
}

async function create(terminals: Terminals, command: string): Promise<TerminalId> {
  const terminalId = newTerminalId()
  await terminals.create(sandbox, { sandboxId, terminalId, command, cols: 80, rows: 24 })
  return terminalId
}

const readText = async (terminals: Terminals, id: TerminalId): Promise<string> => {
  const { bytes } = await terminals.get(sandboxId, id).read({ full: true, format: 'text' })
  return new TextDecoder().decode(bytes)
}

test('removes an ended terminal and its files after its retention time', async () => {
  const terminals = await open({ exitedReadableMs: 200 })
  const id = await create(terminals, 'echo done')
  await eventually(() => expect(events.at(-1)).toEqual({ type: 'terminal.removed', sandboxId, terminalId: id }))
  expect(() => terminals.get(sandboxId, id)).toThrow(expect.objectContaining({ code: 'terminal/not-found' }))
  expect(existsSync(join(folder, sandboxId, id))).toBe(false)
})

test('removes a terminal whose retention time ended while no host ran', async () => {
  const first = await open()
  const id = await create(first, 'echo done')
  await until('the exit', () => first.get(sandboxId, id).record.state === 'exited')
  await first.close()
  const second = await open({ exitedReadableMs: 0 })
  await eventually(() => expect(second.list(sandboxId)).toEqual([]))
  await eventually(() => expect(readdirSync(join(folder, sandboxId))).toEqual([]))
})

test('removes a folder without a readable record and loads the others', async () => {
  const first = await open()
  const id = await create(first, 'echo kept')
  await until('the exit', () => first.get(sandboxId, id).record.state === 'exited')
  await first.close()
  const broken = join(folder, sandboxId, newTerminalId())
  mkdirSync(broken)
  writeFileSync(join(broken, 'meta.json'), '{"version":1,')
  const second = await open()
  expect(second.list(sandboxId).map((it) => it.id)).toEqual([id])
  expect(existsSync(broken)).toBe(false)
  expect(await readText(second, id)).toBe('kept')
})

test('the next host restores terminal names and reads records without names', async () => {
  const first = await open()
  const [named, old] = [await create(first, 'cat'), await create(first, 'cat')]
  expect(first.get(sandboxId, named).rename('build').name).toBe('build')
  await eventually(() =>
    expect(events).toContainEqual({
      type: 'terminal.changed',
      terminal: expect.objectContaining({ id: named, name: 'build' }),
    }),
  )
  await first.close()
  const metaFile = join(folder, sandboxId, old, 'meta.json')
  writeFileSync(metaFile, readFileSync(metaFile, 'utf8').replace('"name":null,', ''))
  const second = await open()
  expect(second.list(sandboxId).map(({ id, name }) => [id, name])).toEqual([
    [named, 'build'],
    [old, null],
  ])
  expect(second.get(sandboxId, named).rename(null).name).toBeNull()
})

test('redraws a screen from its output when its worker crashes', async () => {
  const script = join(temporaryFolder(), 'dying.mjs')
  writeFileSync(
    script,
    `import { parentPort } from 'node:worker_threads'
     import { serveScreens } from ${JSON.stringify(new URL('./worker/screenServer.ts', import.meta.url).href)}
     parentPort.on('message', (it) => {
       if (it.type === 'output' && !it.replay && Buffer.from(it.bytes).includes('die')) throw new Error('as if it had crashed')
     })
     serveScreens(parentPort)`,
  )
  const terminals = await open({ workerUrl: pathToFileURL(script) })
  const id = await create(terminals, 'stty -echo; seq 1 300; read x; echo die; read x; echo after; read x')
  const session = terminals.get(sandboxId, id)
  await until('the output', async () => (await readText(terminals, id)).endsWith('300'))
  session.resize({ cols: 100, rows: 30 })
  session.write(Buffer.from('\n'))
  await until('the same screen', async () => (await readText(terminals, id).catch(() => '')).endsWith('die'))
  session.write(Buffer.from('\n'))
  await until('what comes after', async () => (await readText(terminals, id)).endsWith('die\nafter'))
  expect((await readText(terminals, id)).split('\n').slice(0, 2)).toEqual(['1', '2'])
  expect(session.record).toMatchObject({ cols: 100, rows: 30, state: 'running' })
})

test('a sandbox that cannot start a program leaves no terminal', async () => {
  const terminals = await open()
  await sandbox.stop()
  const failing: SandboxInstance = { ...sandbox, openTerminal: () => Promise.reject(new Error('no')) }
  const params = { sandboxId, terminalId: newTerminalId(), command: 'true', cols: 80, rows: 24 }
  await expect(terminals.create(failing, params)).rejects.toThrow('no')
  expect(terminals.list(sandboxId)).toEqual([])
})

test('an attaching client gets the shell marks but none forged by output', async () => {
  const terminals = await open()
  const forged = '\\033]7133;[{"line":-1,"command":"evil","known":true,"output":0,"end":[0,0],"exitCode":0}]\\a'
  const id = await create(
    terminals,
    `printf '%b' '${forged}\\033]133;A\\a$ \\033]133;B\\als\\r\\n\\033]133;C\\aend'; sleep 1000`,
  )
  await until('the output', async () => (await readText(terminals, id)).includes('end'))
  const received: ServerStreamMessage[] = []
  const stream = (messages: unknown[]) => ({
    send: (message: unknown) => void messages.push(message),
    sendBytes: () => {},
    isCongested: () => false,
    end: () => {},
  })
  const session = terminals.get(sandboxId, id)
  session.attach(stream(received), { scrollback: 10, marks: true })
  await until('the marks', () => received.some(({ type }) => type === 'marks'))
  expect(received.find(({ type }) => type === 'marks')).toMatchObject({
    key: expect.stringMatching(/^[0-9a-f]{32}$/),
    marks: [{ command: 'ls', known: false }],
  })
  const untold: ServerStreamMessage[] = []
  session.attach(stream(untold), { scrollback: 10 })
  await until('the first message', () => untold.length > 0)
  expect(untold.map(({ type }) => type)).toEqual(['attached'])
})

test('output that stalls every screen ends only its own screen and is not redrawn', async () => {
  const terminals = await open({ workerUrl: createHangingScreenWorker(), stuckMs: 500 })
  const quiet = await create(terminals, 'seq 100; sleep 1000')
  await until('the first output', async () => (await readText(terminals, quiet)).endsWith('100'))
  const loud = await create(terminals, 'echo earlier; echo stick fast; read line; echo "after $line"; sleep 1000')
  await until('the screen that was cleared', async () => (await readText(terminals, loud)).includes('kept it busy'))
  terminals.get(sandboxId, loud).write(Buffer.from('it\n'))
  await until('what comes next', async () => (await readText(terminals, loud)).includes('after it'))
  const text = await readText(terminals, loud)
  expect(text).not.toContain('earlier')
  expect(text).not.toContain('stick')
  expect(await readText(terminals, quiet)).toBe(Array.from({ length: 100 }, (_, line) => line + 1).join('\n'))
  const raw = await terminals
    .get(sandboxId, loud)
    .readSince({ since: 0, waitMs: 0, maxBytes: 1_000, signal: new AbortController().signal })
  expect(raw.bytes.toString()).toContain('stick fast')
})

test('a later host does not redraw output that stalled its screen', async () => {
  const first = await open({ workerUrl: createHangingScreenWorker(), stuckMs: 500 })
  const loud = await create(first, 'echo before; echo stick fast; read line; echo after; read line')
  await until('the screen that was cleared', async () => (await readText(first, loud)).includes('kept it busy'))
  first.get(sandboxId, loud).write(Buffer.from('\n'))
  await until('what comes next', async () => (await readText(first, loud)).includes('after'))
  await first.close()
  const later = await open({ workerUrl: createHangingScreenWorker(), stuckMs: 500 })
  const text = await readText(later, loud)
  expect(text).toContain('after')
  expect(text).not.toContain('stick')
})

test('a screen that gets stuck twice on requests is reset', async () => {
  const terminals = await open({ workerUrl: createHangingScreenWorker(), stuckMs: 500 })
  const loud = await create(terminals, 'echo no answer; sleep 1000')
  const request = { since: 0, waitMs: 30_000, maxBytes: 1_000, signal: new AbortController().signal }
  await terminals.get(sandboxId, loud).readSince(request)
  await until('the screen that was cleared', async () =>
    (await readText(terminals, loud).catch(() => '')).includes('kept it busy'),
  )
})

test('removing a terminal does not wait for a busy screen', async () => {
  const closed = Promise.withResolvers<never>()
  closed.promise.catch(() => {})
  const busy: ScreenPool = {
    workers: 1,
    open: () => ({
      output: () => {},
      resize: () => {},
      takesMarks: () => {},
      draws: () => {},
      ask: () => closed.promise,
      close: () => closed.reject(new Error('closed')),
    }),
    close: async () => {},
  }
  const terminals = await openTerminals({ folder, pool: busy, onEvent: () => {}, now: Date.now, log: silentLog })
  const id = await create(terminals, 'echo done')
  await until('the exit', () => terminals.get(sandboxId, id).record.state === 'exited')
  await terminals.removeAll(sandboxId)
  expect(terminals.list(sandboxId)).toEqual([])
  expect(existsSync(join(folder, sandboxId))).toBe(false)
  await terminals.close()
})

test('does not publish a terminal before it is readable, even after its program exits', async () => {
  const readable: [string, boolean][] = []
  const terminals = await open({
    onEvent(event) {
      if (event.type !== 'terminal.changed') return
      const { id, state } = event.terminal
      readable.push([state, listIds(terminals).includes(id)])
    },
  })
  const ending: SandboxInstance = {
    ...sandbox,
    async openTerminal(request) {
      const program = await sandbox.openTerminal(request)
      program.onOutput(() => {})
      await program.ended
      return program
    },
  }
  await terminals.create(ending, { sandboxId, terminalId: newTerminalId(), command: 'true', cols: 80, rows: 24 })
  await eventually(() => expect(readable.at(-1)?.[0]).toBe('exited'))
  expect(readable.map(([, isReadable]) => isReadable)).not.toContain(false)
})

const listIds = (terminals: Terminals) => terminals.list(sandboxId).map(({ id }) => id)

test('removes the earliest ended terminals first and never running ones', async () => {
  const terminals = await open({ maxEnded: { perSandbox: 2, bytes: 1_000_000 } })
  const running = await create(terminals, 'sleep 1000')
  const ended: TerminalId[] = []
  for (let count = 0; count < 4; count += 1) {
    const id = await create(terminals, 'echo done')
    await until('the exit', () => terminals.get(sandboxId, id).record.state === 'exited')
    ended.push(id)
  }
  await eventually(() => expect(listIds(terminals).sort()).toEqual([running, ...ended.slice(2)].sort()))
})

test('ended terminals retain a bounded amount of output', async () => {
  const terminals = await open({ maxEnded: { perSandbox: 200, bytes: 1_500_000 } })
  const ended: TerminalId[] = []
  for (let count = 0; count < 2; count += 1) {
    const id = await create(terminals, 'head -c 1000000 /dev/zero; echo end')
    await until('the exit', () => terminals.get(sandboxId, id).record.state === 'exited')
    ended.push(id)
  }
  await eventually(() => expect(listIds(terminals)).toEqual(ended.slice(1)))
  const [last] = ended.slice(1)
  if (last) expect((await readText(terminals, last)).trimEnd().endsWith('end')).toBe(true)
})

test('reads all output of an ended terminal from disk', async () => {
  const terminals = await open()
  const id = await create(terminals, 'seq 1 20000')
  await until('the exit', () => terminals.get(sandboxId, id).record.state === 'exited')
  const session = terminals.get(sandboxId, id)
  const expected = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\r\n`).join('')
  const signal = new AbortController().signal
  await eventually(async () => {
    const { bytes } = await session.readSince({ since: 0, waitMs: 0, maxBytes: 1_000_000, signal })
    expect(Buffer.from(bytes).toString()).toBe(expected)
  })
  expect(session.storedBytes).toBe(expected.length)
})
