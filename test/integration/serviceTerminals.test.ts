import { existsSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../support/assertions/eventually.ts'
import { findMessage, openSocket, type SocketClient } from '../support/clients/socketClient.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { runningService, type TestService } from '../support/processes/runningService.ts'

/** Terminals through REST, the stream and a link, over the real service, host and namespaces. */
let service: TestService
let sandboxId: string
let sandbox: string
let opened: SocketClient[] = []
let clockAheadMs = 0

beforeAll(async () => {
  service = await runningService({ now: () => Date.now() + clockAheadMs })
  const created = await service.send('/v1/sandboxes', { body: { name: 'terminals' } })
  expect(created.status, created.text).toBe(201)
  sandboxId = created.json.id
  sandbox = `/v1/sandboxes/${sandboxId}`
})
afterAll(() => service?.close())
beforeEach(() => {
  clockAheadMs = 0
  return () => {
    for (const socket of opened) socket.close()
    opened = []
  }
})

async function startTerminal(command: string, body: object = {}): Promise<string> {
  const { status, json, text } = await service.send(`${sandbox}/pty`, { body: { command, ...body } })
  expect(status, text).toBe(201)
  return `${sandbox}/pty/${json.session_id}`
}

async function watch(path: string, options: Parameters<typeof openSocket>[1] = {}): Promise<SocketClient> {
  const headers = options.headers ?? { authorization: `Bearer ${service.key}` }
  const socket = await openSocket(`${service.url}${path}`, { ...options, headers })
  opened.push(socket)
  return socket
}

const stream = (terminal: string, query = '') => `${terminal}/stream${query}`

describe('over REST', () => {
  test('a terminal starts in the directory of another terminal’s foreground program', async () => {
    const server = await startTerminal('mkdir -p /srv/site && cd /srv/site && exec sleep 1000')
    await until('the program', async () => {
      const { json } = await service.send(`${sandbox}/exec`, { body: { command: 'pgrep -fx "sleep 1000"' } })
      return json.exit_code === 0
    })
    const readOutput = async (body: object) => {
      const terminal = await startTerminal('pwd', body)
      return until('the exit', async () => {
        const { json } = await service.send(`${terminal}/read`)
        return json.state === 'exited' && json.output
      })
    }
    const beside = { cwd_of: server.slice(server.lastIndexOf('/') + 1), cwd: '/tmp' }
    expect(await readOutput(beside)).toBe('/srv/site')
    await service.send(server, { method: 'DELETE' })
    expect(await readOutput(beside)).toBe('/tmp')
    const refusal = await service.send(`${sandbox}/pty`, { body: { command: 'pwd', cwd_of: '../etc' } })
    expect([refusal.status, refusal.json.code]).toEqual([400, 'request/invalid'])
  })

  test('input produces output on the screen and the exit is reported correctly', async () => {
    const terminal = await startTerminal('read name; echo "hello $name"; exit 7')
    expect((await service.send(`${terminal}/write`, { body: { input: 'wörld\n' } })).json).toMatchObject({
      success: true,
      bytes_written: 7,
    })
    const read = await until('the exit', async () => {
      const { json } = await service.send(`${terminal}/read`)
      return json.state === 'exited' && json
    })
    expect(read).toMatchObject({ output: 'wörld\nhello wörld', exit_code: 7, signal: null, cols: 80, rows: 24 })
    const listed = await service.send(`${sandbox}/pty`)
    expect(listed.json.sessions.map((it: { session_id: string }) => it.session_id)).not.toContain(read.session_id)
    const all = await service.send(`${sandbox}/pty?all=true`)
    expect(all.json.sessions).toContainEqual(expect.objectContaining({ session_id: read.session_id, exit_code: 7 }))
    expect(all.json.total).toBe(all.json.sessions.length)
  })

  test('a long poll waits for output and continues from its cursor', async () => {
    const terminal = await startTerminal('stty -echo; echo ready; cat')
    const first = await until('the first line', async () => {
      const { json } = await service.send(`${terminal}/read?since=0`)
      return json.output.includes('ready\r\n') && json
    })
    const waiting = service.send(`${terminal}/read?since=${first.cursor}&wait_ms=60000`)
    await service.send(`${terminal}/write`, { body: { input: 'more\n' } })
    const next = await waiting
    expect(next.json).toMatchObject({ output: 'more\r\n', state: 'running', missed: false, cursor: first.cursor + 6 })
    expect((await service.send(`${terminal}/read?since=${next.json.cursor}`)).json.output).toBe('')
  })

  test('raw output that is not UTF-8 is returned as base64 with its encoding', async () => {
    const terminal = await startTerminal(
      `stty -opost; printf 'caf\\xc3\\xa9'; read x; printf 'a\\xff\\xfeb'; kill -TERM $$`,
    )
    const text = await until('the text', async () => {
      const { json } = await service.send(`${terminal}/read?since=0&wait_ms=1000`)
      return json.output.includes('é') && json
    })
    expect(text).toMatchObject({ output: 'café', encoding: 'utf8' })
    await service.send(`${terminal}/write`, { body: { input: '\n' } })
    const bytes: Buffer[] = []
    let { cursor, state } = text
    while (state === 'running') {
      const { json } = await service.send(`${terminal}/read?since=${cursor}&wait_ms=1000`)
      bytes.push(Buffer.from(json.output, json.encoding))
      ;({ cursor, state } = json)
    }
    expect(Buffer.concat(bytes).subarray(-4)).toEqual(Buffer.from([0x61, 0xff, 0xfe, 0x62]))
    const all = await service.send(`${terminal}/read?since=0`)
    expect(all.json).toMatchObject({ encoding: 'base64', exit_code: 143, signal: 'SIGTERM' })
    expect((await service.send(`${terminal}/read`)).json.encoding).toBe('utf8')
  })

  test('a resize reaches the program', async () => {
    const terminal = await startTerminal(`trap 'stty size' WINCH; stty size; while :; do read -t 0.1 _; done`)
    await until('the first size', async () => (await service.send(`${terminal}/read`)).json.output.includes('24 80'))
    expect((await service.send(`${terminal}/resize`, { body: { cols: 100, rows: 40 } })).json).toMatchObject({
      success: true,
      cols: 100,
      rows: 40,
    })
    await until('the new size', async () => (await service.send(`${terminal}/read`)).json.output.includes('40 100'))
    await service.send(terminal, { method: 'DELETE' })
  })

  test.each(['🪤🫁', '🫠🫶', '漢🥱한', '❤️é\u0301', '👩‍💻🇩🇪'])(
    '%s occupies as many cells as programs in the sandbox count',
    async (text) => {
      const env = { LANG: 'C.UTF-8' }
      const exec = { command: `printf %s '${text}' | wc -L`, env }
      const counted = Number((await service.send(`${sandbox}/exec`, { body: exec })).json.stdout)
      const terminal = await startTerminal(`printf %s '${text}'; read x`, { env })
      await until('the text', async () => (await service.send(`${terminal}/read`)).json.output === text)
      expect((await service.send(`${terminal}/read`)).json.cursor_position).toEqual({ row: 0, col: counted })
    },
  )

  test('tmux in a sandbox counts new emoji the same way', async (context) => {
    if (!existsSync('/usr/bin/tmux')) return context.skip('there is no tmux')
    const text = '🪤🫠x'
    const tmux = 'tmux -L widths -f /dev/null'
    const column = `until c=$(${tmux} display -p '#{cursor_x}') && [ "$c" -gt 0 ]; do sleep 0.05; done; echo $c`
    const command = `${tmux} new-session -d "printf %s '${text}'; sleep 1000" && ${column}; ${tmux} kill-server`
    const { json } = await service.send(`${sandbox}/exec`, { body: { command, env: { LANG: 'C.UTF-8' } } })
    const terminal = await startTerminal(`printf %s '${text}'; read x`)
    await until('the text', async () => (await service.send(`${terminal}/read`)).json.output === text)
    const { col } = (await service.send(`${terminal}/read`)).json.cursor_position
    expect(`${json.stdout}${json.stderr}`.trim()).toBe(String(col))
  })

  test('returns colors on request', async () => {
    const terminal = await startTerminal(`printf '\\033[31mred\\033[0m\\n'; cat`)
    await until('the text', async () => (await service.send(`${terminal}/read`)).json.output === 'red')
    expect((await service.send(`${terminal}/read?format=ansi`)).json.output).toContain('\u001b[31mred')
  })
})

describe('the stream', () => {
  test('sends the current screen, then live output and the exit', async () => {
    const terminal = await startTerminal('stty -echo; echo before; read line; echo "got $line"; exit 3')
    await until('the first line', async () => (await service.send(`${terminal}/read`)).json.output === 'before')
    const socket = await watch(stream(terminal))
    expect(await findMessage(socket, { type: 'attached' })).toMatchObject({ state: 'running', cols: 80, rows: 24 })
    await until('the snapshot', () => socket.text.includes('before'))
    socket.send({ type: 'input', data: 'this\n' })
    expect(await findMessage(socket, { type: 'exited' })).toEqual({ type: 'exited', exit_code: 3, signal: null })
    expect(socket.text).toContain('got this\r\n')
    expect((await until('the close', () => socket.closed)).code).toBe(1000)
  })

  test('sends every viewer the same output', async () => {
    const terminal = await startTerminal('cat')
    const viewers = [await watch(stream(terminal)), await watch(stream(terminal))]
    for (const viewer of viewers) await findMessage(viewer, { type: 'attached' })
    viewers[0]?.send({ type: 'input', data: 'both\n' })
    for (const viewer of viewers) await until('the line', () => viewer.text.includes('both'))
    viewers[1]?.send({ type: 'resize', cols: 90, rows: 30 })
    for (const viewer of viewers)
      expect(await findMessage(viewer, { type: 'resized' })).toMatchObject({ cols: 90, rows: 30 })
  })

  test('loses no byte of a program with heavy output', async () => {
    const terminal = await startTerminal('read _; seq 1 200000; exit 0')
    const socket = await watch(stream(terminal))
    await findMessage(socket, { type: 'attached' })
    await until('the snapshot', () => socket.frames.length > 0)
    const snapshots = socket.frames.length
    let used = 0
    const reading = setInterval(() => {
      const bytes = socket.frames.slice(snapshots).reduce((sum, frame) => sum + frame.length, 0)
      if (bytes > used) socket.send({ type: 'ack', bytes: bytes - used })
      used = bytes
    }, 5)
    try {
      socket.send({ type: 'input', data: '\n' })
      await findMessage(socket, { type: 'exited' })
    } finally {
      clearInterval(reading)
    }
    const lines = Buffer.concat(socket.frames.slice(snapshots)).toString('utf8').trim().split('\r\n').filter(Boolean)
    expect(lines.length).toBe(200_000)
    expect(lines[0]).toBe('1')
    expect(lines.at(-1)).toBe('200000')
  })

  test('rejects an invalid message and continues', async () => {
    const terminal = await startTerminal('cat')
    const socket = await watch(stream(terminal))
    await findMessage(socket, { type: 'attached' })
    for (const wrong of ['no json', '{"type":"resize","cols":0,"rows":1}', '{"type":"dance"}']) socket.send(wrong)
    await until('three refusals', () => socket.messages.filter(({ type }) => type === 'refused').length === 3)
    expect(await findMessage(socket, { type: 'refused' })).toMatchObject({ code: 'request/invalid' })
    socket.send({ type: 'input', data: 'still here\n' })
    await until('the line', () => socket.text.includes('still here'))
  })

  test.each<[string, (terminal: string) => string]>([
    ['terminal', () => `${sandbox}/pty/pty_${'0'.repeat(24)}`],
    ['sandbox', (terminal) => terminal.replace(sandboxId, 'f'.repeat(32))],
  ])('closes with 4004 for an unknown %s', async (_, path) => {
    const socket = await watch(stream(path(await startTerminal('cat'))))
    expect((await until('the close', () => socket.closed)).code).toBe(4004)
    expect(socket.messages).toEqual([])
  })

  test('of another account closes like an unknown one', async () => {
    const { key } = secondAccount(service.dataDir)
    const socket = await watch(stream(await startTerminal('cat')), { headers: { 'x-api-key': key } })
    expect(await until('the close', () => socket.closed)).toEqual({
      code: 4004,
      reason: 'Sandbox not found or access denied',
    })
  })

  test.each<[string, Record<string, string>, string]>([
    ['no key', {}, '401'],
    ['an empty key', { authorization: '' }, '401'],
    ['a wrong key', { authorization: 'Bearer nonsense' }, '401'],
    ['a page of somebody else', { origin: 'https://evil.example' }, '403'],
    ['a host name that was rebound', { host: 'evil.example' }, '403'],
  ])('does not open for %s', async (_, headers, status) => {
    const terminal = await startTerminal('cat')
    const key = Object.hasOwn(headers, 'authorization') || status === '401' ? {} : { authorization: service.key }
    await expect(watch(stream(terminal), { headers: { ...key, ...headers } })).rejects.toThrow(status)
  })

  test('does not open with an invalid line count or on another path', async () => {
    const terminal = await startTerminal('cat')
    await expect(watch(stream(terminal, '?scrollback=-1'))).rejects.toThrow('400')
    await expect(watch('/v1/nothing')).rejects.toThrow('404')
    expect((await service.send(stream(terminal))).status).toBe(426)
  })

  test('sends the requested number of scrollback lines', async () => {
    const terminal = await startTerminal('seq 1 200; cat')
    await until('the output', async () => (await service.send(`${terminal}/read`)).json.output.includes('200'))
    const plain = await watch(stream(terminal))
    const deep = await watch(stream(terminal, '?scrollback=1000'))
    await until('both snapshots', () => plain.text.includes('200') && deep.text.includes('200'))
    expect(plain.text).not.toMatch(/\b42\b/)
    expect(deep.text).toMatch(/\b42\b/)
  })
})

describe('a link', () => {
  async function link() {
    const { status, json } = await service.send(`${sandbox}/terminal-session`, { method: 'POST' })
    expect(status).toBe(201)
    return json as { token: string; terminal_url: string; expires_in_seconds: number }
  }

  test('opens the terminals of its sandbox and has its token after the #', async () => {
    const { token, terminal_url, expires_in_seconds } = await link()
    expect(terminal_url).toBe(`${service.url}/terminal/${sandboxId}#token=${token}`)
    expect(expires_in_seconds).toBe(3600)
    const asHolder = (path: string, body?: unknown) =>
      service.send(path, { key: token, ...(body !== undefined && { body }) })

    expect((await asHolder(sandbox)).json.terminal_url).toBe(`${service.url}/terminal/${sandboxId}`)
    const created = await asHolder(`${sandbox}/pty`, { command: 'cat' })
    expect(created.status).toBe(201)
    const terminal = `${sandbox}/pty/${created.json.session_id}`
    expect((await asHolder(`${terminal}/write`, { input: 'x' })).status).toBe(200)
    const socket = await watch(stream(terminal), { headers: {}, protocols: [`steward.token.${token}`] })
    expect(socket.protocol).toBe(`steward.token.${token}`)
    await findMessage(socket, { type: 'attached' })
    const named = await watch(stream(terminal), { headers: {}, protocols: ['steward', `steward.token.${token}`] })
    expect(named.protocol).toBe('steward')
  })

  test('opens nothing else', async () => {
    const { token } = await link()
    const otherSandbox = await service.send('/v1/sandboxes', { body: { name: 'other' } })
    for (const [path, body] of [
      ['/v1/sandboxes', undefined],
      ['/v1/auth/api-keys', undefined],
      [`/v1/sandboxes/${otherSandbox.json.id}`, undefined],
      [`/v1/sandboxes/${otherSandbox.json.id}/pty`, { command: 'cat' }],
      [`${sandbox}/exec`, { command: 'id' }],
      [`${sandbox}/files/read?path=/etc/hostname`, undefined],
      [`${sandbox}/terminal-session`, {}],
      [`${sandbox}/stop`, {}],
    ] as const) {
      const answer = await service.send(path, { key: token, ...(body !== undefined && { body }) })
      expect(answer.status, path).toBe(403)
      expect(answer.json.code).toBe('auth/forbidden')
    }
    expect((await service.send(sandbox, { key: token, method: 'DELETE' })).status).toBe(403)
    await expect(watch('/v1/events', { headers: { authorization: token } })).rejects.toThrow('403')
    await service.send(`/v1/sandboxes/${otherSandbox.json.id}`, { method: 'DELETE' })
  })

  test('expires after an hour and with its sandbox', async () => {
    const { token } = await link()
    const { json } = await service.send(`${sandbox}/pty`, { key: token, body: { command: 'cat' } })
    const socket = await watch(stream(`${sandbox}/pty/${json.session_id}`), {
      headers: {},
      protocols: [`steward.token.${token}`],
    })
    await findMessage(socket, { type: 'attached' })
    clockAheadMs = 3_600_001
    expect((await service.send(sandbox, { key: token })).status).toBe(401)
    await service.send(sandbox, { method: 'PATCH', body: { name: 'compared' } }) // before the next comparison
    expect((await until('the socket to close', () => socket.closed)).code).toBe(4401)
    clockAheadMs = 0

    const brief = await service.send('/v1/sandboxes', { body: { name: 'brief' } })
    const path = `/v1/sandboxes/${brief.json.id}`
    const created = await service.send(`${path}/terminal-session`, { method: 'POST' })
    expect((await service.send(path, { key: created.json.token })).status).toBe(200)
    await service.send(path, { method: 'DELETE' })
    expect((await service.send(path, { key: created.json.token })).status).toBe(401)
  })
})

describe('events', () => {
  test('report each change of sandboxes and terminals to their owner only', async () => {
    const { key } = secondAccount(service.dataDir)
    const ownEvents = await watch('/v1/events')
    const foreign = await watch('/v1/events', { headers: { authorization: key } })
    expect(await findMessage(ownEvents, { type: 'ready' })).toEqual({ type: 'ready' })
    await findMessage(foreign, { type: 'ready' })

    const { json } = await service.send('/v1/sandboxes', { body: { name: 'watched' } })
    const statuses = () =>
      ownEvents.messages
        .filter(({ type }) => type === 'sandbox.changed')
        .map(({ sandbox }) => sandbox as { id: string; status: string })
        .filter(({ id }) => id === json.id)
        .map(({ status }) => status)
    await until('both states', () => statuses().length === 2)
    expect(statuses()).toEqual(['provisioning', 'running'])

    const created = await service.send(`/v1/sandboxes/${json.id}/pty`, { body: { command: 'exit 5' } })
    const ended = await until('the end of the terminal', () =>
      ownEvents.messages
        .map(({ terminal }) => terminal as { session_id: string; exit_code: number | null } | undefined)
        .find((terminal) => terminal?.session_id === created.json.session_id && terminal?.exit_code === 5),
    )
    expect(ended).toMatchObject({ sandbox_id: json.id, state: 'exited', command: 'exit 5' })

    await service.send(`/v1/sandboxes/${json.id}`, { method: 'DELETE' })
    await findMessage(ownEvents, { type: 'sandbox.removed', id: json.id })
    expect(foreign.messages).toEqual([{ type: 'ready' }])
  })

  test('report the foreground program of a terminal and its request for attention', async () => {
    const ownEvents = await watch('/v1/events')
    await findMessage(ownEvents, { type: 'ready' })
    const terminal = await startTerminal('bash')
    const type = (input: string) => service.send(`${terminal}/write`, { body: { input } })
    const isForeground = (name: string | null) =>
      until(`the program ${name}`, () => {
        const last = ownEvents.messages.findLast(({ type }) => type === 'terminal.changed')
        return (last?.terminal as { process: string | null } | undefined)?.process === name
      })
    await type('cat\n')
    await isForeground('cat')
    await type('\x03')
    await isForeground(null)
    await type(`printf '\\e]777;notify;Claude;Approve \u202Ethis?\\a'\n`)
    await findMessage(ownEvents, {
      type: 'terminal.called',
      session_id: terminal.split('/').at(-1),
      text: 'Claude: Approve this?',
    })
    // Reports only the last of many simultaneous notifications.
    await type(`for n in $(seq 200); do printf '\\e]9;again\\a'; done\n`)
    await findMessage(ownEvents, { type: 'terminal.called', text: 'again' })
    expect(ownEvents.messages.filter(({ type }) => type === 'terminal.called').length).toBeLessThan(10)
  })

  test('send `ready` again when the host was replaced', async () => {
    const ownEvents = await watch('/v1/events')
    await findMessage(ownEvents, { type: 'ready' })
    const terminal = await startTerminal('cat')
    const socket = await watch(stream(terminal))
    await findMessage(socket, { type: 'attached' })
    await service.endHost()
    expect((await until('the stream to end', () => socket.closed)).code).toBe(4503)
    await until('the second ready', () => ownEvents.messages.filter(({ type }) => type === 'ready').length === 2)
    await findMessage(ownEvents, { type: 'sandbox.changed' })
    expect((await service.send(sandbox)).json).toMatchObject({ status: 'stopped', started_at: null })
    expect((await service.send(`${terminal}/read`)).json).toMatchObject({ state: 'exited' })
    expect((await service.send(`${sandbox}/start`, { method: 'POST' })).json.status).toBe('running')
  })
})
