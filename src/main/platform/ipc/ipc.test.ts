import { chown, mkdtemp, rm, stat } from 'node:fs/promises'
import { createConnection, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { eventually, until } from '#test/support/assertions/eventually.ts'
import { silentLog } from '../logging/log.ts'
import { Scope } from '../program/scope.ts'
import { writeFrame } from './frames.ts'
import { connectIpc, type IpcClient } from './ipcClient.ts'
import { type IpcServer, type IpcServerOptions, type IpcServerStream, listenIpc } from './ipcServer.ts'

let scope: Scope
let path: string

beforeEach(async () => {
  scope = new Scope()
  const folder = scope.own(await mkdtemp(join(tmpdir(), 'steward-ipc-')), (it) => rm(it, { recursive: true }))
  path = join(folder, 'test.sock')
})

afterEach(() => scope.close())

async function listen(options: Partial<IpcServerOptions> = {}): Promise<IpcServer> {
  const server = await listenIpc({ path, handlers: {}, open: () => {}, log: silentLog, ...options })
  return scope.own(server, (it) => it.close())
}

async function connect(onEvent: (event: unknown) => void = () => {}): Promise<IpcClient> {
  return scope.own(await connectIpc({ path, onEvent }), (it) => it.close())
}

test('a call carries parameters and bytes, and returns a result and bytes', async () => {
  await listen({
    handlers: {
      double: async ({ params, body }) => ({ result: { got: params }, body: Buffer.concat([body, body]) }),
    },
  })
  const client = await connect()
  const { result, body } = await client.call('double', { a: 1 }, { body: Buffer.from('xy') })
  expect(result).toEqual({ got: { a: 1 } })
  expect(body.toString()).toBe('xyxy')
})

test('only this user may open the socket', async () => {
  await listen()
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

test('does not connect to a socket in a folder of another user', async (context) => {
  if (process.getuid?.() !== 0) return context.skip('only root can give a folder to another user')
  await listen()
  await chown(dirname(path), 65_534, 65_534)
  await expect(connect()).rejects.toMatchObject({ code: 'data/unusable' })
})

test('an expected error keeps its code, an unexpected error hides its details', async () => {
  await listen({
    handlers: {
      refuse: async () => {
        throw new AppError('sandbox/busy', 'Not now.', { detail: 'more' })
      },
      break: async () => {
        throw new Error('the secret is 42')
      },
    },
  })
  const client = await connect()
  await expect(client.call('refuse', {})).rejects.toMatchObject({
    code: 'sandbox/busy',
    message: 'Not now.',
    detail: 'more',
  })
  await expect(client.call('break', {})).rejects.toMatchObject({
    code: 'internal/unexpected',
    message: expect.not.stringContaining('42'),
  })
  await expect(client.call('toString', {})).rejects.toMatchObject({ code: 'internal/unexpected' })
})

test('replies arrive as they are ready, not in call order', async () => {
  const slow = Promise.withResolvers<void>()
  await listen({
    handlers: {
      slow: () => slow.promise.then(() => ({ result: 'slow' })),
      fast: async () => ({ result: 'fast' }),
    },
  })
  const client = await connect()
  const first = client.call('slow', {})
  expect((await client.call('fast', {})).result).toBe('fast')
  slow.resolve()
  expect((await first).result).toBe('slow')
})

test('aborting a call cancels it on the other side', async () => {
  const calledOff = Promise.withResolvers<void>()
  await listen({
    handlers: {
      wait: ({ signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => calledOff.resolve())
        }),
    },
  })
  const client = await connect()
  const controller = new AbortController()
  const call = client.call('wait', {}, { signal: controller.signal })
  controller.abort()
  await expect(call).rejects.toMatchObject({ code: 'host/unavailable' })
  await calledOff.promise
  await expect(client.call('wait', {}, { signal: controller.signal })).rejects.toMatchObject({
    code: 'host/unavailable',
  })
})

test('a lost connection fails all calls and streams and cancels them remotely', async () => {
  const calledOff = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  await listen({
    handlers: {
      wait: ({ signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => calledOff.resolve())
        }),
    },
    open: (_, stream) => {
      stream.onClose = () => closed.resolve()
    },
  })
  const client = await connect()
  const call = client.call('wait', {})
  const ends: (AppError | undefined)[] = []
  client.open({}, { onMessage: () => {}, onBytes: () => {}, onEnd: (error) => ends.push(error) })
  client.close()
  await expect(call).rejects.toMatchObject({ code: 'host/unavailable' })
  await client.ended
  await Promise.all([calledOff.promise, closed.promise])
  expect(ends).toMatchObject([{ code: 'host/unavailable' }])
  await expect(client.call('wait', {})).rejects.toMatchObject({ code: 'host/unavailable' })
})

test('events reach every connected client', async () => {
  const server = await listen()
  const events: unknown[] = []
  await connect((event) => events.push(['first', event]))
  await connect((event) => events.push(['second', event]))
  await eventually(() => expect(server.connections()).toBe(2))
  server.broadcast({ n: 1 })
  await eventually(() => expect(events).toHaveLength(2))
})

test('a stream carries messages and bytes in order and ends once', async () => {
  await listen({
    open: (params, stream) => {
      stream.send({ opened: params })
      stream.sendBytes(Buffer.from('bytes'))
      stream.onMessage = (message) => {
        stream.send({ echo: message })
        stream.end(new AppError('terminal/exited', 'Over.'))
        stream.send('too late')
      }
    },
  })
  const client = await connect()
  const messages: unknown[] = []
  const ended = Promise.withResolvers<AppError | undefined>()
  const stream = client.open(
    { which: 7 },
    {
      onMessage: (message) => messages.push(message),
      onBytes: (bytes) => messages.push(bytes.toString()),
      onEnd: ended.resolve,
    },
  )
  stream.send('hi')
  expect(await ended.promise).toMatchObject({ code: 'terminal/exited', message: 'Over.' })
  expect(messages).toEqual([{ opened: { which: 7 } }, 'bytes', { echo: 'hi' }])
})

test('streams take turns on a busy connection, and replies overtake them', async () => {
  const total = 8 * 1024 * 1024
  const chunk = Buffer.alloc(64 * 1024, 'x')
  const order: string[] = []
  await listen({
    handlers: { ping: async () => ({ result: 'pong' }) },
    open: (params, stream) => flood({ name: String(params), stream, chunk, total }),
  })
  const client = await connect()
  const received = new Map<string, number>()
  const ended = ['a', 'b'].map(
    (name) =>
      new Promise<void>((resolve) => {
        client.open(name, {
          onMessage: () => {},
          onBytes(bytes) {
            order.push(name)
            received.set(name, (received.get(name) ?? 0) + bytes.length)
          },
          onEnd: () => resolve(),
        })
      }),
  )
  let whenAnswered = 0
  const pinged = client.call('ping', {}).then(() => {
    whenAnswered = (received.get('a') ?? 0) + (received.get('b') ?? 0)
  })
  await Promise.all([...ended, pinged])
  expect(received).toEqual(
    new Map([
      ['a', total],
      ['b', total],
    ]),
  )
  expect(whenAnswered).toBeLessThan(total)
  const firstHalf = order.slice(0, order.length / 2)
  expect(firstHalf.filter((name) => name === 'b').length).toBeGreaterThan(firstHalf.length / 8)
})

/** Sends `total` bytes as the connection's capacity permits. */
function flood(job: { name: string; stream: IpcServerStream; chunk: Buffer; total: number }): void {
  let remaining = job.total
  const step = (): boolean => {
    if (remaining === 0) return false
    job.stream.sendBytes(job.chunk)
    remaining -= job.chunk.length
    if (remaining === 0) job.stream.end()
    return remaining > 0
  }
  job.stream.onTurn = step
  while (!job.stream.isCongested() && step()) {}
}

test('closes a connection that violates the protocol without affecting others', async () => {
  await listen({ handlers: { ping: async () => ({ result: 'pong' }) } })
  const client = await connect()
  const intruder = scope.own(createConnection({ path }), (it) => it.destroy())
  const closed = new Promise((resolve) => intruder.once('close', resolve))
  intruder.on('error', () => {})
  intruder.write(Buffer.alloc(64, 0xff))
  await closed
  expect((await client.call('ping', {})).result).toBe('pong')
})

test('closing the server ends connections that are not being read', async () => {
  let opened = false
  const server = await listen({
    open: (_, stream) => {
      opened = true
      for (let n = 0; n < 64; n++) stream.sendBytes(Buffer.alloc(64 * 1024))
    },
  })
  const deaf = scope.own(createConnection({ path }), (it) => it.destroy())
  deaf.on('error', () => {})
  writeFrame(deaf, { kind: 'open', stream: 1, params: {} })
  await until('the stream', () => opened)
  await server.close()
  await eventually(() => expect(server.connections()).toBe(0))
})

test('connecting without a listener fails with the reason', async () => {
  await expect(connect()).rejects.toMatchObject({ code: 'ENOENT' })
})

test('a connection signal limits only the connection attempt', async () => {
  await listen({ handlers: { ping: async () => ({ result: 'pong' }) } })
  const controller = new AbortController()
  const client = scope.own(await connectIpc({ path, onEvent: () => {}, signal: controller.signal }), (it) => it.close())
  controller.abort()
  expect((await client.call('ping', {})).result).toBe('pong')
  await expect(connectIpc({ path, onEvent: () => {}, signal: controller.signal })).rejects.toMatchObject({
    code: 'host/unavailable',
  })
})

test('a server with another protocol ends the connection', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.resume().write(Buffer.alloc(32, 0xff))
  })
  scope.own(server, (it) => it.close())
  await new Promise<void>((resolve) => server.listen(path, resolve))
  const client = await connect()
  const call = client.call('ping', {})
  await expect(call).rejects.toMatchObject({ code: 'host/unavailable' })
  await client.ended
})
