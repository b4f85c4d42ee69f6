import { afterEach, expect, test } from 'vitest'
import type { AppError } from '#shared/appError.ts'
import { type ServerStreamMessage, streamLimits } from '#shared/contract/terminalStream.ts'
import { TerminalId } from '#shared/ids.ts'
import { until } from '#test/support/eventually.ts'
import { outputLog } from './outputLog.ts'
import { type Viewer, viewer } from './viewer.ts'

const attached: ServerStreamMessage = {
  type: 'attached',
  session_id: TerminalId.parse(`pty_${'0'.repeat(24)}`),
  cols: 80,
  rows: 24,
  state: 'running',
  cursor: 0,
  title: null,
}
const mebibyte = 1024 * 1024
let made: Viewer | undefined

afterEach(() => made?.close())

function watch(options: { stallMs?: number; congested?: () => boolean } = {}) {
  const source = outputLog()
  const seen: unknown[] = []
  let bytes = 0
  let end: { failure: AppError | undefined } | undefined
  const it = viewer({
    source,
    stream: {
      send: (message) => seen.push((message as ServerStreamMessage).type),
      sendBytes(sent) {
        bytes += sent.length
        seen.push(Buffer.from(sent).toString('utf8', 0, 20))
      },
      congested: options.congested ?? (() => false),
      end(failure) {
        end = { failure }
      },
    },
    ...(options.stallMs !== undefined && { stallMs: options.stallMs }),
    onMoved: () => {},
    onEnded: () => {},
  })
  made = it
  return { source, seen, viewer: it, sent: () => bytes, end: () => end }
}

test('output that comes before the snapshot is ready follows it, none lost and none twice', () => {
  const it = watch()
  it.source.append(Buffer.from('in the snapshot'))
  it.viewer.await(it.source.end)
  it.source.append(Buffer.from('after'))
  it.viewer.pump()
  expect(it.seen).toEqual([])
  it.viewer.begin(attached, Buffer.from('drawn'))
  it.source.append(Buffer.from(' more'))
  it.viewer.pump()
  expect(it.seen).toEqual(['attached', 'drawn', 'after', ' more'])
})

test('messages stand between the bytes where they belong, and the exit is last', () => {
  const it = watch()
  it.viewer.await(0)
  it.source.append(Buffer.from('narrow'))
  it.viewer.mark({ type: 'resized', cols: 100, rows: 30 })
  it.source.append(Buffer.from('wide'))
  it.viewer.mark({ type: 'exited', exit_code: 0, signal: null })
  it.viewer.begin(attached, Buffer.from('drawn'))
  expect(it.seen).toEqual(['attached', 'drawn', 'narrow', 'resized', 'wide', 'exited'])
  expect(it.end()).toEqual({ failure: undefined })
})

test('what it asked for is answered at once, but never before it sees the screen', () => {
  const it = watch()
  it.viewer.await(0)
  it.viewer.tell({ type: 'refused', error: 'No.', code: 'request/invalid' })
  it.viewer.begin(attached, Buffer.from('drawn'))
  expect(it.seen).toEqual(['attached', 'drawn', 'refused'])
  it.viewer.tell({ type: 'refused', error: 'No.', code: 'request/invalid' })
  expect(it.seen).toHaveLength(4)
})

test('no more than the window is under way, and every acknowledgement opens it again', () => {
  const it = watch()
  it.viewer.await(0)
  it.viewer.begin(attached, Buffer.alloc(0))
  it.source.append(Buffer.alloc(3 * mebibyte))
  it.viewer.pump()
  expect(it.sent()).toBe(streamLimits.windowBytes)
  it.viewer.acknowledge(1000)
  expect(it.sent()).toBe(streamLimits.windowBytes + 1000)
  it.viewer.acknowledge(mebibyte)
  it.viewer.acknowledge(mebibyte)
  expect(it.sent()).toBe(3 * mebibyte)
})

test('one that acknowledges nothing while output waits is ended', async () => {
  const it = watch({ stallMs: 20 })
  it.viewer.await(0)
  it.viewer.begin(attached, Buffer.alloc(0))
  it.source.append(Buffer.alloc(2 * mebibyte))
  it.viewer.pump()
  const { failure } = await until('the end', () => it.end())
  expect(failure).toMatchObject({ code: 'terminal/too-slow' })
})

test('one with nothing to wait for may stay silent', async () => {
  const it = watch({ stallMs: 20 })
  const other = watch({ stallMs: 20 })
  it.viewer.await(0)
  it.viewer.begin(attached, Buffer.alloc(0))
  it.source.append(Buffer.alloc(streamLimits.windowBytes))
  it.viewer.pump()
  other.viewer.await(0)
  other.viewer.begin(attached, Buffer.alloc(0))
  other.source.append(Buffer.alloc(2 * mebibyte))
  other.viewer.pump()
  await until('the end of the other', () => other.end())
  expect(it.end()).toBeUndefined()
  it.viewer.close()
})

test('while the connection is full it sends in turns, a run at a time', () => {
  let congested = false
  const it = watch({ congested: () => congested })
  it.viewer.await(0)
  it.viewer.begin(attached, Buffer.alloc(0))
  congested = true
  it.source.append(Buffer.alloc(200_000))
  it.viewer.pump()
  expect(it.sent()).toBe(0)
  expect(it.viewer.turn()).toBe(true)
  expect(it.sent()).toBeGreaterThan(0)
  expect(it.sent()).toBeLessThanOrEqual(64 * 1024)
  while (it.viewer.turn()) {}
  expect(it.sent()).toBe(200_000)
})

test('after it left nothing is sent', () => {
  const it = watch()
  it.viewer.await(0)
  it.viewer.close()
  it.viewer.begin(attached, Buffer.from('drawn'))
  it.source.append(Buffer.from('x'))
  it.viewer.pump()
  it.viewer.acknowledge(10)
  expect(it.seen).toEqual([])
})

/** One that need not see all of a flood; `presents` is what was asked for, and draws it. */
function skipping() {
  const source = outputLog()
  const seen: string[] = []
  const presents: boolean[] = []
  let bytes = 0
  let end: { failure: AppError | undefined } | undefined
  const it = viewer({
    source,
    stream: {
      send: (message) => void seen.push((message as ServerStreamMessage).type),
      sendBytes(sent) {
        bytes += sent.length
        seen.push(sent.length > 20 ? 'output' : Buffer.from(sent).toString())
      },
      congested: () => false,
      end(failure) {
        end = { failure }
      },
    },
    async present(isOver) {
      presents.push(isOver)
      const cursor = source.end
      const message: ServerStreamMessage = { type: 'skipped', cols: 80, rows: 24, cursor, at: 0, marks: [] }
      return { cursor, message, bytes: Buffer.from(isOver ? 'all' : 'screen') }
    },
    onMoved: () => {},
    onEnded: () => {},
  })
  made = it
  it.await(0)
  it.begin(attached, Buffer.from('first'))
  return { source, seen, presents, viewer: it, sent: () => bytes, end: () => end }
}

test('who need not see a flood is shown the present screen, and all of it when the flood is over', async () => {
  const it = skipping()
  it.source.append(Buffer.alloc(2 * mebibyte))
  it.viewer.pump()
  await until('the screen', () => it.seen.includes('screen'))
  expect(it.viewer.next).toBeUndefined()
  it.source.append(Buffer.alloc(2 * mebibyte))
  it.viewer.pump()
  it.viewer.drawn()
  await until('the next screen', () => it.presents.length === 2)
  it.source.append(Buffer.from('the end'))
  await until('it was sent', () => it.seen.filter((what) => what === 'screen').length === 2)
  it.viewer.drawn()
  await until('all of it', () => it.seen.includes('all'))
  it.source.append(Buffer.from(' and more'))
  it.viewer.pump()
  expect(it.presents).toEqual([false, false, true])
  expect(it.seen).toEqual([
    'attached',
    'first',
    'skipped',
    'screen',
    'skipped',
    'screen',
    'skipped',
    'all',
    ' and more',
  ])
})

test('a program that ends in a flood is seen to the end, and its exit after that', async () => {
  const it = skipping()
  it.source.append(Buffer.alloc(2 * mebibyte))
  it.viewer.pump()
  await until('the screen', () => it.seen.includes('screen'))
  it.source.append(Buffer.alloc(2 * mebibyte))
  it.viewer.mark({ type: 'resized', cols: 80, rows: 24 })
  it.viewer.mark({ type: 'exited', exit_code: 0, signal: null })
  it.viewer.drawn()
  await until('the end', () => it.end())
  expect(it.seen.slice(-4)).toEqual(['resized', 'skipped', 'all', 'exited'])
})

test('who can follow gets every byte', () => {
  const it = skipping()
  for (let n = 0; n < 50; n++) {
    it.source.append(Buffer.alloc(64 * 1024))
    it.viewer.pump()
    it.viewer.acknowledge(64 * 1024)
  }
  expect(it.presents).toEqual([])
  expect(it.sent()).toBe(50 * 64 * 1024 + 'first'.length)
})
