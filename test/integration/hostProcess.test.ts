import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { getHostSocketPath } from '#platform/net/hostSocket.ts'
import { hostIpcVersion } from '#shared/contract/hostIpc.ts'
import type { SandboxId } from '#shared/ids.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { connectHost, type HostClient, newSandboxId, newTerminalId } from '../support/clients/hostClient.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

type HostProcess = { child: ChildProcess; said: () => string; ended: Promise<number | null> }

const fakeRuntimeHost = fileURLToPath(new URL('../support/processes/fakeRuntimeHost.ts', import.meta.url))
const realHost = fileURLToPath(new URL('../../src/main/entries/host.ts', import.meta.url))
let folder: string
let started: HostProcess[]
let clients: HostClient[]

beforeEach(() => {
  folder = temporaryFolder('host')
  started = []
  clients = []
})

afterEach(async () => {
  for (const { ipc } of clients) ipc.close()
  for (const { child, ended } of started) {
    child.kill('SIGTERM')
    await ended
  }
})

function start(entry = fakeRuntimeHost, ...parts: string[]): HostProcess {
  const child = spawn(process.execPath, [entry, '--data', folder, ...parts], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      said += bytes.toString()
    })
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  const host = { child, said: () => said, ended }
  started.push(host)
  return host
}

async function connect(host?: HostProcess): Promise<HostClient> {
  const client = await until('the host to listen', async () => {
    if (host && host.child.exitCode !== null) throw new Error(`It ended: ${host.said()}`)
    return connectHost(getHostSocketPath(folder))
  })
  clients.push(client)
  return client
}

async function kill({ child, ended }: HostProcess): Promise<void> {
  child.kill('SIGKILL')
  await ended
}

const showing = (client: HostClient, sandboxId: SandboxId, text: string) =>
  until(`a screen to show ${text}`, async () => {
    const { terminals } = await client.call('terminal.list', { sandboxId })
    const [first] = terminals
    const read = first && (await client.terminal(sandboxId, first.id).read({ full: true }))
    return read?.text.includes(text) && read
  })

test('a client that disconnects loses nothing and the next finds sandbox, screen and scrollback', async () => {
  const host = start()
  const first = await connect(host)
  const sandbox = await first.createMachine()
  const terminal = await first.createTerminal(sandbox, 'seq 1 500; read x; echo "got $x"; read x')
  const viewer = terminal.attach()
  await showing(first, sandbox, '500')
  first.ipc.close()
  await until('the viewer to end', () => viewer.end)

  const second = await connect(host)
  expect((await second.call('machine.list', {})).machines.map(({ id }) => id)).toEqual([sandbox])
  const again = second.terminal(sandbox, terminal.id)
  await again.type('more\n')
  const { text } = await showing(second, sandbox, 'got more')
  expect(text.split('\n')).toEqual([...Array.from({ length: 500 }, (_, n) => String(n + 1)), 'more', 'got more'])
  const late = again.attach({ scrollback: 1000 })
  await until('the snapshot', () => late.snapshot)
  expect(late.snapshot?.toString()).toContain('got more')
})

test('after the host was killed, its terminals have exited and still show their screens', async () => {
  const host = start()
  const first = await connect(host)
  const sandbox = await first.createMachine()
  const terminal = await first.createTerminal(
    sandbox,
    "seq 1 100; printf 'é漢\\033[31mred\\033[0m'; read x; echo wide; read x",
  )
  await showing(first, sandbox, 'red')
  await first.call('terminal.resize', { sandboxId: sandbox, terminalId: terminal.id, cols: 120, rows: 40 })
  await terminal.type('\n')
  const before = await showing(first, sandbox, 'wide')
  const ended = await first.createTerminal(sandbox, 'echo finished; exit 7')
  await until('the exit', async () => (await ended.read()).terminal.state === 'exited')
  const endedBefore = await ended.read({ full: true, format: 'ansi' })
  // Only output on disk survives.
  await until('the output on disk', () =>
    readFileSync(join(folder, 'host/terminals', sandbox, terminal.id, 'output-0.log'), 'utf8').includes('wide'),
  )
  await until('the last screen on disk', () =>
    existsSync(join(folder, 'host/terminals', sandbox, ended.id, 'screen.ansi')),
  )
  await kill(host)

  const second = await connect(start())
  expect((await second.call('machine.list', {})).machines).toEqual([])
  const after = await second.terminal(sandbox, terminal.id).read({ full: true })
  expect(after.text).toBe(before.text)
  expect(after.terminal).toMatchObject({ state: 'exited', exitCode: null, signal: null, cols: 120, rows: 40 })
  expect(after.cursor).toBe(before.cursor)
  const endedAfter = await second.terminal(sandbox, ended.id).read({ full: true, format: 'ansi' })
  expect(endedAfter.text).toBe(endedBefore.text)
  expect(endedAfter.terminal).toMatchObject({ state: 'exited', exitCode: 7 })
  const raw = await second.call('terminal.readSince', {
    sandboxId: sandbox,
    terminalId: terminal.id,
    since: 0,
    waitMs: 60_000,
    maxBytes: 1_000_000,
  })
  expect(raw.body.toString()).toContain('é漢\x1b[31mred\x1b[0m')
  await expect(second.terminal(sandbox, terminal.id).type('x')).rejects.toMatchObject({ code: 'terminal/exited' })

  await second.call('machine.delete', { sandboxId: sandbox })
  expect((await second.call('terminal.list', { sandboxId: sandbox })).terminals).toEqual([])
  expect(existsSync(join(folder, 'host/terminals', sandbox))).toBe(false)
})

test('preserves terminals of a sandbox with missing files until it is deleted', async () => {
  const host = start()
  const first = await connect(host)
  const [removedSandbox, instance] = [await first.createMachine(), await first.createMachine()]
  for (const sandbox of [removedSandbox, instance]) await first.createTerminal(sandbox, 'read x')
  await kill(host)
  rmSync(join(folder, 'machines', removedSandbox), { recursive: true })

  const second = await connect(start())
  for (const sandboxId of [removedSandbox, instance]) {
    expect((await second.call('terminal.list', { sandboxId })).terminals).toHaveLength(1)
    await second.call('machine.delete', { sandboxId })
    expect((await second.call('terminal.list', { sandboxId })).terminals).toEqual([])
    expect(existsSync(join(folder, 'host/terminals', sandboxId))).toBe(false)
  }
})

test('refuses a second host on the same folder but starts one after a crash', async () => {
  const first = start()
  await connect(first)
  const second = start()
  expect(await second.ended).not.toBe(0)
  expect(second.said()).toContain('is already running')
  await kill(first)
  expect(existsSync(getHostSocketPath(folder))).toBe(true)
  const third = await connect(start())
  expect(await third.call('describe', {})).toMatchObject({ ipcVersion: hostIpcVersion, runtimes: [{ name: 'local' }] })
})

test('ends every program and removes the socket and the pid file on SIGTERM', async () => {
  const host = start()
  const client = await connect(host)
  const sandbox = await client.createMachine()
  const terminal = await client.createTerminal(sandbox, 'echo "pid $$ ."; sleep 1000')
  const { text } = await showing(client, sandbox, 'pid')
  const pid = Number(/pid (\d+) /.exec(text)?.[1])
  const pidFile = join(folder, 'host/host.pid')
  await until('the pid file', () => existsSync(pidFile))
  expect(Number(readFileSync(pidFile, 'utf8'))).toBe(host.child.pid)
  expect(terminal.id).toMatch(/^pty_/)
  host.child.kill('SIGTERM')
  expect(await host.ended).toBe(0)
  expect(existsSync(`/proc/${pid}`)).toBe(false)
  expect(existsSync(getHostSocketPath(folder))).toBe(false)
  expect(existsSync(pidFile)).toBe(false)
})

test('ends on request', async () => {
  const host = start()
  const client = await connect(host)
  await client.createMachine()
  await client.call('shutdown', {})
  expect(await host.ended).toBe(0)
})

test('exits when idle but not while a client is connected or a sandbox runs', async () => {
  const idle = ['--idle-exit-ms', '1500']
  const host = start(fakeRuntimeHost, ...idle)
  const client = await connect(host)
  const sandbox = await client.createMachine()
  client.ipc.close()
  // A second host exits after it has started. The first host has had at least as much time.
  expect(await start(fakeRuntimeHost, ...idle, '--data', temporaryFolder('host')).ended).toBe(0)
  const again = await connect(host)
  await again.call('machine.delete', { sandboxId: sandbox })
  expect(host.child.exitCode).toBeNull()
  again.ipc.close()
  expect(await host.ended).toBe(0)
})

test('works in a folder with a long path', async () => {
  folder = join(folder, 'deep'.repeat(30))
  mkdirSync(folder)
  const client = await connect(start())
  expect(getHostSocketPath(folder).length).toBeLessThan(100)
  expect(await client.createMachine()).toHaveLength(32)
  await client.call('shutdown', {})
  await until('the end', () => !existsSync(dirname(getHostSocketPath(folder))))
})

test('real sandboxes: provides commands, files and terminals without leaving anything behind', async () => {
  const host = start(realHost, '--runtimes', 'bubblewrap', '--log-level', 'info')
  const client = await connect(host)
  const { runtimes } = await client.call('describe', {})
  expect(runtimes).toMatchObject([{ name: 'bubblewrap', available: true }])
  const sandboxId = await client.createMachine('bubblewrap')
  const { body, ...outcome } = await client.call('machine.exec', {
    sandboxId,
    command: 'echo out; echo err >&2; exit 4',
    timeoutMs: 30_000,
  })
  expect(outcome).toMatchObject({ exitCode: 4, stdoutBytes: 4, timedOut: false, truncated: false })
  expect(body.toString()).toBe('out\nerr\n')
  const content = Buffer.from('content of a file\n')
  await client.call('file.write', { sandboxId, path: '/root/a/file' }, content)
  expect((await client.call('file.read', { sandboxId, path: '/root/a/file', maxBytes: 100 })).body).toEqual(content)
  const { entries } = await client.call('file.list', { sandboxId, path: '/root/a' })
  expect(entries).toMatchObject([{ name: 'file', type: 'file', size: content.length }])

  const terminal = await client.createTerminal(sandboxId, 'tty; cat /root/a/file; exec bash')
  const { text } = await showing(client, sandboxId, 'content of a file')
  expect(text).toMatch(/^\/dev\/pts\/\d+\n/)
  await terminal.type('exit 5\n')
  const ended = await until('the exit', async () => {
    const screen = await terminal.read()
    return screen.terminal.state === 'exited' && screen
  })
  expect(ended.terminal.exitCode).toBe(5)

  const listing = client.createTerminal(sandboxId, 'sleep 1000')
  await listing
  await client.call('machine.stop', { sandboxId })
  await eventually(async () => {
    const { terminals } = await client.call('terminal.list', { sandboxId })
    expect(terminals.map(({ state }) => state)).toEqual(['exited', 'exited'])
  })
  await client.call('machine.delete', { sandboxId })
  expect((await client.call('terminal.list', { sandboxId })).terminals).toEqual([])
  await expect(
    client.call('terminal.create', { sandboxId, terminalId: newTerminalId(), command: 'true', cols: 80, rows: 24 }),
  ).rejects.toMatchObject({ code: 'sandbox/not-running' })
  await expect(
    client.call('machine.exec', { sandboxId: newSandboxId(), command: 'true', timeoutMs: 1 }),
  ).rejects.toMatchObject({ code: 'sandbox/not-running' })
})
