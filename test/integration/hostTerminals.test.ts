import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type RunningHost, startHost } from '#host/compose.ts'
import { silentLog } from '#platform/logging/log.ts'
import { streamLimits } from '#shared/contract/terminalStream.ts'
import { terminalLimits } from '#shared/contract/terminals.ts'
import type { SandboxId } from '#shared/ids.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import {
  connectHost,
  type HostClient,
  newSandboxId,
  newTerminalId,
  type TestTerminal,
} from '../support/clients/hostClient.ts'
import { createFakeRuntime, type FakeRuntime } from '../support/fakes/fakeRuntime.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

let folder: string
let host: RunningHost
let client: HostClient
let runtime: FakeRuntime
let sandbox: SandboxId

beforeEach(async () => {
  folder = temporaryFolder('host')
  runtime = createFakeRuntime({ folder: join(folder, 'machines') })
  host = await startHost({
    dataDir: folder,
    runtimes: [runtime],
    version: '0.0.0',
    pid: process.pid,
    now: Date.now,
    log: silentLog,
    stallMs: 2_000,
  })
  client = await connectHost(host.socketPath)
  sandbox = await client.createMachine()
})

afterEach(async () => {
  client.ipc.close()
  await host.close()
})

const waitForExit = (terminal: TestTerminal) =>
  until('the exit', async () => {
    const screen = await terminal.read({ full: true })
    return screen.terminal.state === 'exited' && screen
  })

const showing = (terminal: TestTerminal, text: string) =>
  until(`the screen to show ${text}`, async () => {
    const screen = await terminal.read()
    return screen.text.includes(text) && screen
  })

const since = (terminal: TestTerminal, cursor: number, waitMs = 0, maxBytes = 1024 * 1024) =>
  client.call('terminal.readSince', {
    sandboxId: terminal.sandboxId,
    terminalId: terminal.id,
    since: cursor,
    waitMs,
    maxBytes,
  })

test('shows typed input and program output on the screen', async () => {
  const terminal = await client.createTerminal(sandbox, 'read name; echo "hello $name"')
  await terminal.type('world\n')
  const read = await waitForExit(terminal)
  expect(read.text).toBe('world\nhello world')
  expect(read.terminal).toMatchObject({ exitCode: 0, signal: null, state: 'exited' })
})

test('reports the exit code and signal of a program', async () => {
  const failing = await client.createTerminal(sandbox, 'exit 3')
  expect((await waitForExit(failing)).terminal).toMatchObject({ exitCode: 3, signal: null })
  const killed = await client.createTerminal(sandbox, 'kill -KILL $$')
  expect((await waitForExit(killed)).terminal).toMatchObject({ exitCode: 137, signal: 'SIGKILL' })
})

test('includes the last output in the first read that reports an exit', async () => {
  for (let round = 0; round < 10; round++) {
    const terminal = await client.createTerminal(sandbox, 'seq 1 3000; printf LAST')
    const read = await waitForExit(terminal)
    expect(read.text.split('\n').slice(-2)).toEqual(['3000', 'LAST'])
    const viewer = terminal.attach({ scrollback: 100 })
    await until('the end', () => viewer.end)
    expect(viewer.snapshot?.toString()).toContain('LAST')
    expect(viewer.messages.map(({ type }) => type)).toEqual(['attached', 'exited'])
  }
})

test('stores every line up to the scrollback limit in the size of the terminal', async () => {
  const terminal = await client.createTerminal(sandbox, 'seq 1 12000; read x', { cols: 40, rows: 10 })
  await showing(terminal, '12000')
  const { text, terminal: record } = await terminal.read({ full: true })
  const lines = text.split('\n')
  expect(lines.at(-1)).toBe('12000')
  expect(lines).toHaveLength(terminalLimits.scrollbackLines + 9)
  expect(record).toMatchObject({ cols: 40, rows: 10, command: 'seq 1 12000; read x' })
})

test('applies a resize to the program and the screen', async () => {
  const terminal = await client.createTerminal(
    sandbox,
    // Not a bash trap, because bash drops a second signal while it handles the first.
    `perl -e '$| = 1; $SIG{WINCH} = sub { system "stty size" }; print "ready\n"; sleep 1 while 1'`,
  )
  await showing(terminal, 'ready')
  const viewer = terminal.attach()
  await until('the snapshot', () => viewer.snapshot)
  await client.call('terminal.resize', { sandboxId: sandbox, terminalId: terminal.id, cols: 111, rows: 33 })
  const { terminal: record } = await showing(terminal, '33 111')
  expect(record).toMatchObject({ cols: 111, rows: 33 })
  await eventually(() => expect(viewer.messages).toContainEqual({ type: 'resized', cols: 111, rows: 33 }))
  viewer.send({ type: 'resize', cols: 50, rows: 12 })
  await showing(terminal, '12 50')
})

test('preserves wide, combined and emoji characters', async () => {
  const terminal = await client.createTerminal(sandbox, "printf '漢字 e\\u0301 🚀 end'; read x")
  const { text, cursorPosition } = await showing(terminal, 'end')
  expect(text).toBe('漢字 e\u0301 🚀 end')
  expect(cursorPosition).toEqual({ row: 0, col: 13 })
})

test('draws vim and restores the screen after it exits', async () => {
  const terminal = await client.createTerminal(sandbox, 'echo before; vim -u NONE -N; echo after; read x')
  await showing(terminal, '~')
  await terminal.type('ihello from vim\x1b')
  const { text } = await showing(terminal, 'hello from vim')
  expect(text.split('\n')[0]).toBe('hello from vim')
  expect(text).not.toContain('before')
  await terminal.type(':q!\r')
  expect((await showing(terminal, 'after')).text).toContain('before')
})

test('a full read contains the shell scrollback and the pager screen', async () => {
  const terminal = await client.createTerminal(sandbox, 'seq 1 30; printf "one\\ntwo\\n" | less')
  await showing(terminal, '(END)')
  const lines = (await terminal.read({ full: true })).text.split('\n')
  expect(lines.slice(0, 7)).toEqual(['1', '2', '3', '4', '5', '6', '7'])
  expect(lines).not.toContain('30')
  expect(lines.slice(-3)).toEqual(['one', 'two', '(END)'])
})

test('a cursor position request gets one reply for any number of viewers', async () => {
  const terminal = await client.createTerminal(
    sandbox,
    "stty raw -echo; echo ready; read -rs x; printf 'abc\\033[6n'; IFS= read -rs -d R first; IFS= read -rsn64 -t 1 more; printf '\\r\\n'; printf '%sR%s' \"$first\" \"$more\" | od -An -c; read x",
  )
  const viewers = [terminal.attach(), terminal.attach()]
  await showing(terminal, 'ready')
  await terminal.type('\n')
  const { text } = await until('the answer', async () => {
    const screen = await terminal.read()
    return screen.text.includes('033') && screen
  })
  expect(text.match(/033/g)).toHaveLength(1)
  expect(text.replaceAll(/\s+/g, ' ')).toMatch(/033 \[ \d+ ; \d+ R/)
  for (const viewer of viewers) viewer.close()
})

test('sends a viewer every byte of 20 MB once and in order', async () => {
  const lines = Array.from({ length: 250_000 }, (_, n) => `${n} ${'x'.repeat(n % 150)}\n`).join('')
  const content = Buffer.from(lines).subarray(0, 20_000_000)
  writeFileSync(join(folder, 'content'), content)
  const terminal = await client.createTerminal(sandbox, `stty raw; read x; cat ${join(folder, 'content')}`)
  const viewers = [terminal.attach(), terminal.attach()]
  await eventually(() => expect(viewers.every((viewer) => viewer.snapshot)).toBe(true))
  // In raw mode the kernel's line discipline does not echo the end of line, but the character itself comes back.
  await terminal.type('\n')
  await until('the end of both', () => viewers.every((viewer) => viewer.end), 120_000)
  for (const viewer of viewers) {
    const received = Buffer.concat(viewer.chunks)
    const tail = received.subarray(received.length - content.length)
    expect(createHash('sha256').update(tail).digest('hex')).toBe(createHash('sha256').update(content).digest('hex'))
    expect(received.length - content.length).toBeLessThan(8)
    expect(viewer.messages.at(-1)).toEqual({ type: 'exited', exit_code: 0, signal: null })
  }
})

test('a viewer that joins during output misses and repeats nothing', async () => {
  const terminal = await client.createTerminal(
    sandbox,
    'stty -opost; for n in $(seq 1 20000); do echo "line $n."; done',
  )
  const early = terminal.attach()
  await until('some output', () => early.received > 20_000)
  const late = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const viewer = terminal.attach()
      await until('the snapshot', () => viewer.snapshot)
      return viewer
    }),
  )
  await until('the end of all', () => [early, ...late].every((viewer) => viewer.end), 120_000)
  const whole = Buffer.concat(early.chunks)
  const begin = readCursor(early)
  for (const viewer of late) {
    const rest = Buffer.concat(viewer.chunks)
    expect(rest.equals(whole.subarray(readCursor(viewer) - begin))).toBe(true)
  }
})

function readCursor({ messages: [first] }: ReturnType<TestTerminal['attach']>): number {
  if (first?.type !== 'attached') throw new Error('It is not attached.')
  return first.cursor
}

test('reads output from any cursor and waits for new output', async () => {
  const terminal = await client.createTerminal(sandbox, 'stty -echo; echo one; read x; echo two; read x; printf "é"')
  const first = await until('the first', async () => {
    const reply = await since(terminal, 0, 1_000)
    return reply.body.toString().includes('one') && reply
  })
  const waiting = since(terminal, first.cursor, 60_000)
  await terminal.type('\n')
  const second = await waiting
  expect(second).toMatchObject({ missed: false, terminal: { state: 'running' } })
  expect((await since(terminal, 0)).body.toString()).toMatch(/^one\r\n/)
  let last = second
  await terminal.type('\n')
  while (last.terminal.state === 'running') last = await since(terminal, last.cursor, 60_000)
  expect((await since(terminal, 0)).body.toString()).toBe('one\r\ntwo\r\né')
  expect((await since(terminal, 5, 0, 3)).body.toString()).toBe('two')
})

test('cancels a wait for output when the client aborts it', async () => {
  const terminal = await client.createTerminal(sandbox, 'read x')
  const controller = new AbortController()
  const params = { sandboxId: sandbox, terminalId: terminal.id, since: 0, waitMs: 60_000, maxBytes: 100 }
  const waiting = client.ipc.call('terminal.readSince', params, { signal: controller.signal })
  controller.abort()
  await expect(waiting).rejects.toMatchObject({ code: 'host/unavailable' })
})

test('reports output older than the buffer as missed', async () => {
  const bytes = terminalLimits.maxOutputBytes + 4 * 1024 * 1024
  const terminal = await client.createTerminal(sandbox, `stty -opost; yes 漢字 | head -c ${bytes}`)
  await until(
    'the exit',
    async () => {
      const [record] = (await client.call('terminal.list', { sandboxId: sandbox })).terminals
      return record?.state === 'exited'
    },
    120_000,
  )
  const { missed, cursor, body } = await since(terminal, 0)
  expect(missed).toBe(true)
  expect(cursor - body.length).toBeGreaterThan(0)
  expect(body.toString()).not.toContain('\ufffd')
})

test('four floods slow down no reply and no other terminal', async () => {
  const floods = await Promise.all([1, 2, 3, 4].map(() => client.createTerminal(sandbox, 'yes')))
  const flooded = floods.map((terminal) => terminal.attach())
  await until('the floods', () => flooded.every((viewer) => viewer.received > 256 * 1024))
  const quiet = await client.createTerminal(sandbox, 'stty -echo; cat')
  const viewer = quiet.attach()
  await until('the snapshot', () => viewer.snapshot)
  const before = flooded.map((it) => it.received)
  for (let n = 0; n < 20; n++) {
    viewer.send({ type: 'input', data: `round ${n}\n` })
    await until(`the echo of round ${n}`, () => Buffer.concat(viewer.chunks).includes(`round ${n}\r\n`))
    await showing(quiet, `round ${n}`)
  }
  // None of the floods stalled in the meantime.
  await until('the floods to go on', () => flooded.every((it, index) => it.received > before[index]!))
  for (const terminal of floods) {
    await client.call('terminal.close', { sandboxId: sandbox, terminalId: terminal.id })
  }
})

test('disconnects a viewer that acknowledges nothing while the others and the program continue', async () => {
  const terminal = await client.createTerminal(sandbox, 'yes')
  const slow = terminal.attach({ acknowledge: false })
  const good = terminal.attach()
  const { failure: error } = await until('the end of the slow one', () => slow.end)
  expect(error).toMatchObject({ code: 'terminal/too-slow' })
  expect(slow.received).toBe(streamLimits.windowBytes)
  const before = good.received
  await until('the other to go on', () => good.received > before + 4 * streamLimits.windowBytes)
  expect(good.end).toBeUndefined()
  await client.call('terminal.close', { sandboxId: sandbox, terminalId: terminal.id })
  await until('its end', () => good.end)
  expect(good.messages.at(-1)?.type).toBe('exited')
})

test('reports title changes and stores the latest in the record', async () => {
  const terminal = await client.createTerminal(sandbox, "printf '\\033]0;first\\007\\033]2;second title\\007'; read x")
  const viewer = terminal.attach()
  await until('the title', async () => (await terminal.read()).terminal.title === 'second title')
  await eventually(() =>
    expect(client.events).toContainEqual({
      type: 'terminal.changed',
      terminal: expect.objectContaining({ id: terminal.id, title: 'second title' }),
    }),
  )
  viewer.close()
})

test('an exited terminal rejects input with an error', async () => {
  const terminal = await client.createTerminal(sandbox, 'echo done')
  await waitForExit(terminal)
  await expect(terminal.type('x')).rejects.toMatchObject({ code: 'terminal/exited', status: 409 })
  const on = { sandboxId: sandbox, terminalId: terminal.id }
  await expect(client.call('terminal.resize', { ...on, cols: 10, rows: 10 })).rejects.toMatchObject({ status: 409 })
  await client.call('terminal.close', on)
  expect((await terminal.read()).text).toBe('done')
})

test('a viewer receives an error for an invalid message and stays connected', async () => {
  const terminal = await client.createTerminal(sandbox, 'stty -echo; cat')
  const viewer = terminal.attach()
  viewer.send({ type: 'resize', cols: 0, rows: 10 })
  viewer.send({ nonsense: true })
  viewer.send({ type: 'input', data: 'x'.repeat(terminalLimits.maxInputBytes + 1) })
  await eventually(() => expect(viewer.messages.filter(({ type }) => type === 'refused')).toHaveLength(3))
  viewer.send({ type: 'input', data: 'still here\n' })
  await showing(terminal, 'still here')
  expect(viewer.end).toBeUndefined()
})

test('closing a terminal ends the program and notifies its viewers', async () => {
  const terminal = await client.createTerminal(sandbox, 'sleep 1000')
  const viewer = terminal.attach()
  await until('the snapshot', () => viewer.snapshot)
  await client.call('terminal.close', { sandboxId: sandbox, terminalId: terminal.id })
  const { terminal: record } = await terminal.read()
  expect(record).toMatchObject({ state: 'exited', signal: 'SIGHUP' })
  await until('the end', () => viewer.end)
  expect(viewer.messages.at(-1)).toMatchObject({ type: 'exited', signal: 'SIGHUP' })
})

test('returns not found for an unknown terminal', async () => {
  const stranger = client.terminal(sandbox, newTerminalId())
  await expect(stranger.read()).rejects.toMatchObject({ code: 'terminal/not-found', status: 404 })
  const terminal = await client.createTerminal(sandbox, 'read x')
  const elsewhere = client.terminal(newSandboxId(), terminal.id)
  await expect(elsewhere.read()).rejects.toMatchObject({ code: 'terminal/not-found' })
  const viewer = stranger.attach()
  const { failure: error } = await until('the end', () => viewer.end)
  expect(error).toMatchObject({ code: 'terminal/not-found' })
  await expect(client.createTerminal(newSandboxId(), 'true')).rejects.toMatchObject({ code: 'sandbox/not-running' })
  await expect(client.ipc.call('terminal.list', { sandboxId: 'x' })).rejects.toMatchObject({ code: 'request/invalid' })
})

test('refuses terminals above the limit of a sandbox without counting exited ones', async () => {
  const some = await Promise.all(
    Array.from({ length: terminalLimits.runningPerSandbox }, () => client.createTerminal(sandbox, 'read x')),
  )
  await expect(client.createTerminal(sandbox, 'read x')).rejects.toMatchObject({
    code: 'terminal/too-many',
    status: 429,
  })
  await client.call('terminal.close', { sandboxId: sandbox, terminalId: some[0]!.id })
  await client.createTerminal(sandbox, 'read x')
})

test('the terminals of a stopped sandbox have exited and remain readable', async () => {
  const terminal = await client.createTerminal(sandbox, 'echo alive; sleep 1000')
  await showing(terminal, 'alive')
  runtime.end(sandbox)
  const read = await waitForExit(terminal)
  expect(read.text).toContain('alive')
  await eventually(() =>
    expect(client.events).toContainEqual({
      type: 'machine.ended',
      sandboxId: sandbox,
      reason: 'Its init was killed.',
    }),
  )
  expect((await client.call('machine.list', {})).machines).toEqual([])
})

test('deleting a sandbox removes its terminals and sends an event', async () => {
  const terminal = await client.createTerminal(sandbox, 'sleep 1000')
  await client.call('machine.delete', { sandboxId: sandbox })
  expect((await client.call('terminal.list', { sandboxId: sandbox })).terminals).toEqual([])
  await eventually(() =>
    expect(client.events).toContainEqual({ type: 'terminal.removed', sandboxId: sandbox, terminalId: terminal.id }),
  )
})

test('input that a viewer resends after a disconnect is typed once', async () => {
  const terminal = await client.createTerminal(
    sandbox,
    'stty -echo; echo ready; read line; echo "got:$line"; sleep 1000',
  )
  await showing(terminal, 'ready')
  const lostViewer = terminal.attach()
  lostViewer.send({ type: 'input', data: 'one ', writer: 'ada', seq: 1 })
  await until('the input to be taken', () =>
    lostViewer.messages.some((message) => message.type === 'taken' && message.seq === 1),
  )
  lostViewer.close()
  const back = terminal.attach()
  back.send({ type: 'input', data: 'one ', writer: 'ada', seq: 1 })
  back.send({ type: 'input', data: 'two\n', writer: 'ada', seq: 2 })
  await showing(terminal, 'got:one two')
  expect(back.messages.filter((it) => it.type === 'taken')).toEqual([
    { type: 'taken', seq: 1 },
    { type: 'taken', seq: 2 },
  ])
  back.close()
})

test('acknowledges input after the program reads it and refuses input above the limit', async () => {
  const reader = 'stty raw -echo; printf ready; while [ ! -e go ]; do sleep 0.02; done; head -c 1000000 | wc -c'
  const terminal = await client.createTerminal(sandbox, `cd ${folder}; ${reader}`)
  await showing(terminal, 'ready')
  const viewer = terminal.attach()
  const answers = () => viewer.messages.filter(({ type }) => type === 'taken' || type === 'refused')
  viewer.send({ type: 'input', data: 'x'.repeat(1_000_000), writer: 'ada', seq: 1 })
  viewer.send({ type: 'input', data: 'y'.repeat(1_000_000), writer: 'ada', seq: 2 })
  await eventually(() =>
    expect(answers()).toMatchObject([
      { type: 'refused', code: 'terminal/input-full' },
      { type: 'taken', seq: 2 },
    ]),
  )
  writeFileSync(join(folder, 'go'), '')
  await showing(terminal, '1000000')
  expect(answers().at(-1)).toEqual({ type: 'taken', seq: 1 })
  viewer.close()
})
