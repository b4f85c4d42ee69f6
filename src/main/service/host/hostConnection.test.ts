import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type IpcServer, type IpcServerOptions, listenIpc } from '#platform/ipc/ipcServer.ts'
import { silentLog } from '#platform/logging/log.ts'
import { Scope } from '#platform/program/scope.ts'
import { AppError } from '#shared/appError.ts'
import { hostIpcVersion } from '#shared/contract/hostIpc.ts'
import { until } from '#test/support/assertions/eventually.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { createHostConnection, type HostConnectionOptions } from './hostConnection.ts'

/** Connects to a real socket. The test implements the server, so that it can be late, outdated or disconnected. */
let scope = new Scope()

afterEach(async () => {
  await scope.close()
  scope = new Scope()
})

type Handlers = Partial<IpcServerOptions['handlers']>

function listenAsHost(path: string, handlers: Handlers = {}): Promise<IpcServer> {
  return listenIpc({
    path,
    handlers: {
      describe: async () => ({ result: { ipcVersion: hostIpcVersion, version: '1', pid: 1, runtimes: [] } }),
      'machine.list': async () => ({ result: { machines: [] } }),
      ...handlers,
    } as IpcServerOptions['handlers'], // each test passes only some handlers
    open: (_, stream) => stream.end(new AppError('terminal/not-found', 'No such terminal.')),
    log: silentLog,
  })
}

function connection(options: Partial<HostConnectionOptions> & { path: string }) {
  const host = scope.own(
    createHostConnection({
      launch: async () => {},
      onEvent: () => {},
      onConnected: async () => {},
      onNobody: async () => {},
      waitMs: 30_000,
      findHost: async () => undefined,
      hasCrashed: () => false,
      log: silentLog,
      now: Date.now,
      ...options,
    }),
    (it) => it.close(),
  )
  host.start()
  return host
}

const socketIn = (name: string) => join(temporaryFolder(name), 'host.sock')

test('starts one host when none is running, and calls wait for it', async () => {
  const path = socketIn('launch')
  let launches = 0
  const host = connection({
    path,
    async launch() {
      launches++
      scope.own(await listenAsHost(path), (it) => it.close())
    },
  })
  const { result } = await host.call('describe', {})
  expect(result.version).toBe('1')
  expect(launches).toBe(1)
})

test('reports a missing host once, and again after a host is lost', async () => {
  const path = socketIn('nobody')
  let downCount = 0
  let launches = 0
  let server: IpcServer | undefined
  const host = connection({
    path,
    onNobody: async () => void downCount++,
    async launch() {
      launches++
      // The first launch never listens, so the connection keeps retrying.
      if (launches > 1) server = scope.own(await listenAsHost(path), (it) => it.close())
    },
    now: () => launches * 60_000,
  })
  await host.call('machine.list', {})
  expect(downCount).toBe(1)
  await server?.close()
  await until('the loss is told', () => downCount === 2)
})

test('reconciles its state before other calls are allowed', async () => {
  const path = socketIn('reconcile')
  const order: string[] = []
  scope.own(
    await listenAsHost(path, {
      'machine.list': async () => {
        order.push('list')
        return { result: { machines: [] } }
      },
      shutdown: async () => {
        order.push('other call')
        return { result: {} }
      },
    }),
    (it) => it.close(),
  )
  const host = connection({ path, onConnected: async (call) => void (await call('machine.list', {})) })
  await host.call('shutdown', {})
  expect(order).toEqual(['list', 'other call'])
})

test('reconnects to a host that returns and forwards its events', async () => {
  const path = socketIn('again')
  const events: string[] = []
  let connects = 0
  const first = await listenAsHost(path)
  const host = connection({
    path,
    onEvent: ({ type }) => events.push(type),
    onConnected: async () => void connects++,
  })
  await host.call('describe', {})
  await first.close()
  const second = scope.own(await listenAsHost(path), (it) => it.close())
  await until('the second connection', () => connects === 2)
  second.broadcast({ type: 'machine.ended', sandboxId: 'a'.repeat(32), reason: 'It was killed.' })
  second.broadcast({ type: 'of a later version' })
  second.broadcast({ type: 'machine.ended', sandboxId: 'b'.repeat(32), reason: 'It was killed.' })
  await until('both events', () => events.length === 2)
})

test('abandons a host that is unavailable or does not reply', async () => {
  const away = connection({ path: socketIn('away'), waitMs: 20 })
  await expect(away.call('describe', {})).rejects.toMatchObject({ code: 'host/unavailable', status: 503 })

  const path = socketIn('silent')
  const cancelled = Promise.withResolvers<void>()
  scope.own(
    await listenAsHost(path, {
      'machine.stop': ({ signal }) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            cancelled.resolve()
            resolve({ result: {} })
          }),
        ),
    }),
    (it) => it.close(),
  )
  const silent = connection({ path })
  const sandboxId = 'a'.repeat(32) as never // the type is branded
  await expect(silent.call('machine.stop', { sandboxId }, { deadlineMs: 50 })).rejects.toMatchObject({
    code: 'host/unavailable',
  })
  await cancelled.promise
})

test('rejects pending calls when the host is lost', async () => {
  const path = socketIn('lost')
  const server = await listenAsHost(path, { shutdown: () => new Promise(() => {}) })
  const host = connection({ path })
  await host.call('describe', {})
  const waiting = host.call('shutdown', {})
  const ended = expect(waiting).rejects.toMatchObject({ code: 'host/unavailable' })
  await server.close()
  await ended
})

test('closes a viewer immediately while the host is unavailable', async () => {
  const host = connection({ path: socketIn('viewer') })
  const error = await new Promise((resolve) => {
    const params = { sandboxId: 'a'.repeat(32) as never, terminalId: `pty_${'b'.repeat(24)}` as never, scrollback: 0 }
    host.attach(params, { onMessage: () => {}, onBytes: () => {}, onEnd: resolve })
  })
  expect(error).toMatchObject({ code: 'host/unavailable' })
})

test('replaces an idle host of another version', async () => {
  const path = socketIn('version')
  let ended = false
  const old: IpcServer = await listenAsHost(path, {
    describe: async () => ({ result: { ipcVersion: hostIpcVersion + 1, version: 'old', pid: 7, runtimes: [] } }),
    shutdown: async () => {
      ended = true
      setImmediate(() => void old.close())
      return { result: {} }
    },
  })
  const host = connection({
    path,
    async launch() {
      scope.own(await listenAsHost(path), (it) => it.close())
    },
  })
  expect((await host.call('describe', {})).result.version).toBe('1')
  expect(ended).toBe(true)
})

test('leaves a busy host of another version running and reports the fix', async () => {
  const path = socketIn('busy')
  const enforced = { memory: false, cpu: false, disk: false, processes: false }
  const instance = { id: 'a'.repeat(32), startedAtMs: 0, runtime: 'x', enforced }
  let looks = 0
  scope.own(
    await listenAsHost(path, {
      describe: async () => ({ result: { ipcVersion: hostIpcVersion + 1, version: 'old', pid: 7, runtimes: [] } }),
      'machine.list': async () => {
        looks++
        return { result: { machines: [instance] } }
      },
    }),
    (it) => it.close(),
  )
  const host = connection({ path, waitMs: 200 })
  await until('what it saw to be known, since it looks again', () => looks > 1)
  const error = await host.call('describe', {}).catch((it: unknown) => it)
  expect(error).toMatchObject({
    code: 'host/unavailable',
    message: 'A sandbox host of Steward old still runs 1 sandbox.',
    detail: expect.stringContaining('Stop all and continue'),
  })
  expect(host.state()).toEqual({ state: 'other-version', version: 'old', running_sandboxes: 1 })
})
