import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { until } from '#test/support/assertions/eventually.ts'
import { silentLog } from '../logging/log.ts'
import { Scope } from '../program/scope.ts'
import { createByteStream } from './byteStream.ts'
import { connectIpc } from './ipcClient.ts'
import { listenIpc } from './ipcServer.ts'

let scope: Scope
let path: string

beforeEach(async () => {
  scope = new Scope()
  const folder = scope.own(await mkdtemp(join(tmpdir(), 'steward-bytes-')), (it) => rm(it, { recursive: true }))
  path = join(folder, 'test.sock')
})
afterEach(() => scope.close())

/** Opens both ends of one connection over a real socket. */
async function pair(): Promise<{ near: Duplex; far: Duplex; getSent: () => number }> {
  const opened = Promise.withResolvers<Duplex>()
  const server = await listenIpc({
    path,
    handlers: {},
    log: silentLog,
    open(_, stream) {
      const end = (error?: Error) => stream.end(error instanceof AppError ? error : undefined)
      const bytes = createByteStream({ ...stream, end })
      stream.onMessage = bytes.onMessage
      stream.onBytes = bytes.onBytes
      stream.onTurn = bytes.onTurn
      stream.onClose = () => bytes.onEnd(undefined)
      bytes.duplex.on('error', () => {})
      opened.resolve(bytes.duplex)
    },
  })
  scope.own(server, (it) => it.close())
  const client = scope.own(await connectIpc({ path, onEvent: () => {} }), (it) => it.close())
  let sentBytes = 0
  const bytes = createByteStream({
    send: (message) => stream.send(message),
    sendBytes(piece) {
      sentBytes += piece.length
      stream.sendBytes(piece)
    },
    isCongested: () => false,
    end: () => stream.close(),
  })
  const stream = client.open({}, bytes)
  bytes.duplex.on('error', () => {}) // the socket closes at the end of the test
  return { near: bytes.duplex, far: await opened.promise, getSent: () => sentBytes }
}

/** Reads the stream without iterating, because iteration would destroy it at the end. */
function readWhole(stream: Duplex): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    stream.on('data', (bytes: Buffer) => chunks.push(bytes))
    stream.once('end', () => resolve(Buffer.concat(chunks)))
    stream.once('error', reject)
  })
}

test('bytes arrive in order both ways, and each side ends independently', async () => {
  const { near, far } = await pair()
  const [up, down] = [randomBytes(3_000_000), randomBytes(2_000_000)]
  near.end(up)
  far.end(down)
  const [atFar, atNear] = await Promise.all([readWhole(far), readWhole(near)])
  expect(atFar.equals(up)).toBe(true)
  expect(atNear.equals(down)).toBe(true)
})

test('a side that does not read applies back pressure to the other', async () => {
  const { near, far, getSent } = await pair()
  near.write(Buffer.alloc(4_000_000))
  await until('the first bytes', () => far.readableLength > 0)
  expect(getSent()).toBeLessThan(1_000_000)
  far.resume()
  await until('all of it', () => getSent() === 4_000_000)
})

test('reads the last data after the other side disconnects', async () => {
  const { near, far } = await pair()
  near.write(Buffer.alloc(4_000_000))
  await new Promise<void>((resolve) => far.end('refused', resolve))
  far.destroy()
  expect(Buffer.concat(await near.toArray()).toString()).toBe('refused')
})

test('reports a truncated stream as an error', async () => {
  const { near, far } = await pair()
  far.write('half')
  await until('a part', () => near.readableLength > 0)
  far.destroy()
  await expect(near.toArray()).rejects.toThrow('closed unexpectedly')
})

test('propagates an error of the other side', async () => {
  const { near, far } = await pair()
  const failed = new Promise((resolve) => near.once('error', resolve))
  far.on('error', () => {})
  far.destroy(new AppError('port/failed', 'It broke.'))
  expect(await failed).toMatchObject({ code: 'port/failed', message: 'It broke.' })
})
