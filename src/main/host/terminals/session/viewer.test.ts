import { afterEach, expect, test } from 'vitest'
import type { AppError } from '#shared/appError.ts'
import { type ServerStreamMessage, streamLimits } from '#shared/contract/terminalStream.ts'
import { TerminalId } from '#shared/ids.ts'
import { until } from '#test/support/assertions/eventually.ts'
import { createOutputLog } from './outputLog.ts'
import { createViewer, type Viewer } from './viewer.ts'

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
let openViewer: Viewer | undefined

afterEach(() => openViewer?.close())

function watch(options: { stallMs?: number; congested?: () => boolean } = {}) {
  const source = createOutputLog()
  const messages: unknown[] = []
  let bytes = 0
  let end: { error: AppError | undefined } | undefined
  const viewer = createViewer({
    source,
    stream: {
      send: (message) => messages.push((message as ServerStreamMessage).type),
      sendBytes(sent) {
        bytes += sent.length
        messages.push(Buffer.from(sent).toString('utf8', 0, 20))
      },
      isCongested: options.congested ?? (() => false),
      end(error) {
        end = { error }
      },
    },
    ...(options.stallMs !== undefined && { stallMs: options.stallMs }),
    onMoved: () => {},
    onEnded: () => {},
  })
  openViewer = viewer
  return { source, seen: messages, viewer, sent: () => bytes, end: () => end }
}

test('output before the snapshot is ready follows it without loss or duplication', () => {
  const watched = watch()
  watched.source.append(Buffer.from('in the snapshot'))
  watched.viewer.await(watched.source.end)
  watched.source.append(Buffer.from('after'))
  watched.viewer.pump()
  expect(watched.seen).toEqual([])
  watched.viewer.begin(attached, Buffer.from('drawn'))
  watched.source.append(Buffer.from(' more'))
  watched.viewer.pump()
  expect(watched.seen).toEqual(['attached', 'drawn', 'after', ' more'])
})

test('messages keep their position between bytes, and the exit is last', () => {
  const watched = watch()
  watched.viewer.await(0)
  watched.source.append(Buffer.from('narrow'))
  watched.viewer.mark({ type: 'resized', cols: 100, rows: 30 })
  watched.source.append(Buffer.from('wide'))
  watched.viewer.mark({ type: 'exited', exit_code: 0, signal: null })
  watched.viewer.begin(attached, Buffer.from('drawn'))
  expect(watched.seen).toEqual(['attached', 'drawn', 'narrow', 'resized', 'wide', 'exited'])
  expect(watched.end()).toEqual({ error: undefined })
})

test('replies are sent immediately, but only after the first screen', () => {
  const watched = watch()
  watched.viewer.await(0)
  watched.viewer.tell({ type: 'refused', error: 'No.', code: 'request/invalid' })
  watched.viewer.begin(attached, Buffer.from('drawn'))
  expect(watched.seen).toEqual(['attached', 'drawn', 'refused'])
  watched.viewer.tell({ type: 'refused', error: 'No.', code: 'request/invalid' })
  expect(watched.seen).toHaveLength(4)
})

test('sends at most one window, and every acknowledgement reopens it', () => {
  const watched = watch()
  watched.viewer.await(0)
  watched.viewer.begin(attached, Buffer.alloc(0))
  watched.source.append(Buffer.alloc(3 * mebibyte))
  watched.viewer.pump()
  expect(watched.sent()).toBe(streamLimits.windowBytes)
  watched.viewer.acknowledge(1000)
  expect(watched.sent()).toBe(streamLimits.windowBytes + 1000)
  watched.viewer.acknowledge(mebibyte)
  watched.viewer.acknowledge(mebibyte)
  expect(watched.sent()).toBe(3 * mebibyte)
})

test('closes a viewer that acknowledges nothing while output waits', async () => {
  const watched = watch({ stallMs: 20 })
  watched.viewer.await(0)
  watched.viewer.begin(attached, Buffer.alloc(0))
  watched.source.append(Buffer.alloc(2 * mebibyte))
  watched.viewer.pump()
  const { error } = await until('the end', () => watched.end())
  expect(error).toMatchObject({ code: 'terminal/too-slow' })
})

test('does not close a silent viewer without pending output', async () => {
  const watched = watch({ stallMs: 20 })
  const second = watch({ stallMs: 20 })
  watched.viewer.await(0)
  watched.viewer.begin(attached, Buffer.alloc(0))
  watched.source.append(Buffer.alloc(streamLimits.windowBytes))
  watched.viewer.pump()
  second.viewer.await(0)
  second.viewer.begin(attached, Buffer.alloc(0))
  second.source.append(Buffer.alloc(2 * mebibyte))
  second.viewer.pump()
  await until('the end of the other', () => second.end())
  expect(watched.end()).toBeUndefined()
  watched.viewer.close()
})

test('sends one run at a time in turns while the connection is full', () => {
  let congested = false
  const watched = watch({ congested: () => congested })
  watched.viewer.await(0)
  watched.viewer.begin(attached, Buffer.alloc(0))
  congested = true
  watched.source.append(Buffer.alloc(200_000))
  watched.viewer.pump()
  expect(watched.sent()).toBe(0)
  expect(watched.viewer.turn()).toBe(true)
  expect(watched.sent()).toBeGreaterThan(0)
  expect(watched.sent()).toBeLessThanOrEqual(64 * 1024)
  while (watched.viewer.turn()) {}
  expect(watched.sent()).toBe(200_000)
})

test('sends nothing after the viewer disconnects', () => {
  const watched = watch()
  watched.viewer.await(0)
  watched.viewer.close()
  watched.viewer.begin(attached, Buffer.from('drawn'))
  watched.source.append(Buffer.from('x'))
  watched.viewer.pump()
  watched.viewer.acknowledge(10)
  expect(watched.seen).toEqual([])
})

/** Creates a viewer that may skip output; `presents` is the requested screen, and draws it. */
function skipping() {
  const source = createOutputLog()
  const messages: string[] = []
  const presents: boolean[] = []
  let bytes = 0
  let end: { error: AppError | undefined } | undefined
  const viewer = createViewer({
    source,
    stream: {
      send: (message) => void messages.push((message as ServerStreamMessage).type),
      sendBytes(sent) {
        bytes += sent.length
        messages.push(sent.length > 20 ? 'output' : Buffer.from(sent).toString())
      },
      isCongested: () => false,
      end(error) {
        end = { error }
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
  openViewer = viewer
  viewer.await(0)
  viewer.begin(attached, Buffer.from('first'))
  return { source, seen: messages, presents, viewer, sent: () => bytes, end: () => end }
}

test('a skipping viewer gets the present screen during a flood, then the full one', async () => {
  const watched = skipping()
  watched.source.append(Buffer.alloc(2 * mebibyte))
  watched.viewer.pump()
  await until('the screen', () => watched.seen.includes('screen'))
  expect(watched.viewer.next).toBeUndefined()
  watched.source.append(Buffer.alloc(2 * mebibyte))
  watched.viewer.pump()
  watched.viewer.onDrawn()
  await until('the next screen', () => watched.presents.length === 2)
  watched.source.append(Buffer.from('the end'))
  await until('it was sent', () => watched.seen.filter((message) => message === 'screen').length === 2)
  watched.viewer.onDrawn()
  await until('all of it', () => watched.seen.includes('all'))
  watched.source.append(Buffer.from(' and more'))
  watched.viewer.pump()
  expect(watched.presents).toEqual([false, false, true])
  expect(watched.seen).toEqual([
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

test('a program that ends in a flood is shown completely before its exit', async () => {
  const watched = skipping()
  watched.source.append(Buffer.alloc(2 * mebibyte))
  watched.viewer.pump()
  await until('the screen', () => watched.seen.includes('screen'))
  watched.source.append(Buffer.alloc(2 * mebibyte))
  watched.viewer.mark({ type: 'resized', cols: 80, rows: 24 })
  watched.viewer.mark({ type: 'exited', exit_code: 0, signal: null })
  watched.viewer.onDrawn()
  await until('the end', () => watched.end())
  expect(watched.seen.slice(-4)).toEqual(['resized', 'skipped', 'all', 'exited'])
})

test('a viewer that keeps up gets every byte', () => {
  const watched = skipping()
  for (let n = 0; n < 50; n++) {
    watched.source.append(Buffer.alloc(64 * 1024))
    watched.viewer.pump()
    watched.viewer.acknowledge(64 * 1024)
  }
  expect(watched.presents).toEqual([])
  expect(watched.sent()).toBe(50 * 64 * 1024 + 'first'.length)
})
