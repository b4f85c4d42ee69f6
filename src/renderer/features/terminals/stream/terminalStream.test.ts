import { afterEach, expect, test } from 'vitest'
import { type WebSocket as ServerSocket, WebSocketServer } from 'ws'
import { streamClose, streamLimits } from '#shared/contract/terminalStream.ts'
import { eventually, until } from '#test/support/assertions/eventually.ts'
import { maxQueuedBytes } from './inputQueue.ts'
import type { StreamState } from './streamState.ts'
import type { TerminalScreen, TerminalSize } from './terminalScreen.ts'
import { createTerminalStream, type TerminalStream } from './terminalStream.ts'

const sessionId = 'pty_0123456789abcdef01234567'
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

/** Terminal service on a real port. Records each viewer's socket and messages. */
class Service {
  readonly viewers: { socket: ServerSocket; said: { type: string; [field: string]: unknown }[]; url: string }[] = []
  private readonly server: WebSocketServer

  private constructor(server: WebSocketServer) {
    this.server = server
    server.on('connection', (socket, request) => {
      const said: { type: string }[] = []
      this.viewers.push({ socket, said, url: request.url ?? '' })
      socket.on('message', (data) => said.push(JSON.parse(String(data))))
    })
  }

  static async listen(): Promise<Service> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    await new Promise((resolve) => server.once('listening', resolve))
    return new Service(server)
  }

  get port(): number {
    return (this.server.address() as { port: number }).port
  }

  async viewer(index: number) {
    return until(`viewer ${index}`, () => this.viewers[index])
  }

  async attach(index: number, { size = { cols: 80, rows: 24 }, state = 'running', snapshot = '', cursor = 0 } = {}) {
    const viewer = await this.viewer(index)
    const attached = { type: 'attached', session_id: sessionId, ...size, state, cursor, title: null }
    viewer.socket.send(JSON.stringify(attached))
    viewer.socket.send(Buffer.from(snapshot))
    return viewer
  }

  async close(): Promise<void> {
    for (const client of this.server.clients) client.terminate()
    await new Promise((resolve) => this.server.close(resolve))
  }
}

/** Records the drawn output. `hold` leaves output unparsed, as a busy terminal does. */
function recordingScreen() {
  const drawn: string[] = []
  const waiting: (() => void)[] = []
  let isPaused = false
  const screen: TerminalScreen = {
    redraw: ({ cols, rows }, snapshot) => void drawn.push(`redraw ${cols}x${rows} ${text(snapshot)}`),
    write(output, parsed) {
      drawn.push(text(output))
      if (isPaused) waiting.push(parsed)
      else parsed()
    },
    resize: ({ cols, rows }: TerminalSize) => void drawn.push(`resize ${cols}x${rows}`),
  }
  const hold = () => {
    isPaused = true
  }
  const release = () => {
    isPaused = false
    for (const parsed of waiting.splice(0)) parsed()
  }
  return { screen, drawn, hold, release }
}

const closing: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function opened(options: { parkAfterMs?: number } = {}) {
  const service = await Service.listen()
  closing.push(() => service.close())
  return { service, ...viewing(() => service.port, options) }
}

function viewing(port: () => number, options: { parkAfterMs?: number } = {}) {
  const recording = recordingScreen()
  const states: StreamState[] = []
  const titles: (string | null)[] = []
  const refusals: string[] = []
  let hiddenOutputs = 0
  const stream: TerminalStream = createTerminalStream({
    connect: ({ scrollback }) => new WebSocket(`ws://127.0.0.1:${port()}/stream?scrollback=${scrollback}`),
    screen: recording.screen,
    scrollbackLines: 10_000,
    writer: 'ada',
    onState: (state) => states.push(state),
    onTitle: (title) => titles.push(title),
    onRefused: ({ code }) => refusals.push(code),
    onHiddenOutput: () => {
      hiddenOutputs += 1
    },
    retryDelayMs: () => 10,
    ...options,
  })
  closing.push(() => stream.close())
  const phase = () => states.at(-1)?.phase
  const inPhase = (expected: StreamState['phase']) => until(`phase ${expected}`, () => phase() === expected)
  return { stream, states, titles, refusals, phase, inPhase, hiddenOutputs: () => hiddenOutputs, ...recording }
}

const saidInputs = (viewer: { said: { type: string; data?: unknown }[] }) =>
  viewer.said.filter((it) => it.type === 'input').map((it) => it.data)

test('draws the snapshot and then raw output and resizes in order', async () => {
  const { service, drawn } = await opened()
  const viewer = await service.attach(0, { snapshot: 'as it was' })
  viewer.socket.send(Buffer.from('one'))
  viewer.socket.send(JSON.stringify({ type: 'resized', cols: 100, rows: 30 }))
  viewer.socket.send(Buffer.from('two'))
  await eventually(() => expect(drawn).toEqual(['redraw 80x24 as it was', 'one', 'resize 100x30', 'two']))
  expect(viewer.url).toContain('scrollback=10000')
})

test('batches input of one tick into one message', async () => {
  const { service, stream, inPhase } = await opened()
  const viewer = await service.attach(0)
  await inPhase('live')
  for (const key of 'ls\r') stream.type(key)
  await eventually(() => expect(saidInputs(viewer)).toEqual(['ls\r']))
})

test('acknowledges output only after it is parsed and never acknowledges the snapshot', async () => {
  const { service, hold, release, drawn } = await opened()
  hold()
  const viewer = await service.attach(0, { snapshot: 's'.repeat(streamLimits.skip.ackEveryBytes) })
  viewer.socket.send(Buffer.alloc(streamLimits.skip.ackEveryBytes - 1, 'a'))
  viewer.socket.send(Buffer.alloc(11, 'b'))
  await eventually(() => expect(drawn).toHaveLength(3))
  expect(viewer.said).toEqual([])
  release()
  await eventually(() => expect(viewer.said).toEqual([{ type: 'ack', bytes: streamLimits.skip.ackEveryBytes + 10 }]))
})

test('sends the available size once per connection', async () => {
  const { service, stream } = await opened()
  stream.resize({ cols: 120, rows: 40 })
  const viewer = await service.attach(0)
  stream.resize({ cols: 120, rows: 40 })
  await eventually(() => expect(viewer.said).toEqual([{ type: 'resize', cols: 120, rows: 40 }]))
  viewer.socket.close(streamClose.unavailable)
  const next = await service.attach(1)
  await eventually(() => expect(next.said).toEqual([{ type: 'resize', cols: 120, rows: 40 }]))
  next.socket.close(streamClose.unavailable)
  const last = await service.attach(2, { size: { cols: 120, rows: 40 } })
  stream.type('x')
  await eventually(() => expect(last.said).toEqual([{ type: 'input', data: 'x', writer: 'ada', seq: 1 }]))
})

test('the viewer that types determines the terminal size', async () => {
  const { service, stream, drawn } = await opened()
  stream.resize({ cols: 80, rows: 24 })
  const viewer = await service.attach(0)
  viewer.socket.send(JSON.stringify({ type: 'resized', cols: 50, rows: 10 }))
  await eventually(() => expect(drawn).toContain('resize 50x10'))
  expect(viewer.said).toEqual([])
  stream.type('x')
  await eventually(() =>
    expect(viewer.said).toEqual([
      { type: 'resize', cols: 80, rows: 24 },
      { type: 'input', data: 'x', writer: 'ada', seq: 1 },
    ]),
  )
})

test('sends no size for a hidden terminal', async () => {
  const { service, stream, inPhase } = await opened()
  const viewer = await service.attach(0)
  await inPhase('live')
  stream.hide()
  stream.resize({ cols: 20, rows: 10 })
  stream.type('x')
  await eventually(() => expect(viewer.said).toEqual([{ type: 'input', data: 'x', writer: 'ada', seq: 1 }]))
  stream.show()
  await eventually(() => expect(viewer.said.at(-1)).toEqual({ type: 'resize', cols: 20, rows: 10 }))
})

test.each([streamClose.unavailable, streamClose.tooSlow, 1001, 1011])(
  'reattaches after close code %i',
  async (code) => {
    const { service, inPhase, drawn } = await opened()
    const viewer = await service.attach(0, { snapshot: 'first' })
    await inPhase('live')
    viewer.socket.close(code)
    await inPhase('reconnecting')
    await service.attach(1, { snapshot: 'second' })
    await inPhase('live')
    await eventually(() => expect(drawn).toEqual(['redraw 80x24 first', 'redraw 80x24 second']))
  },
)

test('reconnects to a service that was killed and restarted', async () => {
  const service = await Service.listen()
  let { port } = service
  const { inPhase, stream } = viewing(() => port)
  await service.attach(0)
  await inPhase('live')
  await service.close()
  await inPhase('reconnecting')
  stream.type('typed meanwhile')
  const back = await Service.listen()
  closing.push(() => back.close())
  port = back.port
  const viewer = await back.attach(0)
  await eventually(() => expect(saidInputs(viewer)).toEqual(['typed meanwhile']))
})

test('queues input in order until it is attached and reports when it must reject it', async () => {
  const { service, stream, inPhase, states } = await opened()
  const first = await service.attach(0)
  await inPhase('live')
  first.socket.close(streamClose.unavailable)
  await inPhase('reconnecting')
  expect(stream.type('a'.repeat(maxQueuedBytes - 2))).toBe(true)
  expect(stream.type('bcd')).toBe(false)
  expect(states.at(-1)).toMatchObject({ phase: 'reconnecting', refusing: true, holding: true })
  expect(stream.type('e')).toBe(true)
  expect(states.at(-1)).toMatchObject({ refusing: false, holding: true })
  const second = await service.attach(1)
  await eventually(() => expect(saidInputs(second).join('')).toBe(`${'a'.repeat(maxQueuedBytes - 2)}e`))
})

test('resends only unacknowledged input', async () => {
  const { service, stream, inPhase, states } = await opened()
  const first = await service.attach(0)
  await inPhase('live')
  stream.type('arrived')
  await eventually(() => expect(saidInputs(first)).toEqual(['arrived']))
  first.socket.send(JSON.stringify({ type: 'taken', seq: 1 }))
  stream.type('lost')
  await eventually(() => expect(saidInputs(first)).toEqual(['arrived', 'lost']))
  first.socket.close(streamClose.unavailable)
  await inPhase('reconnecting')
  expect(states.at(-1)).toMatchObject({ holding: true })
  stream.type(' and typed since')
  const second = await service.attach(1)
  await eventually(() =>
    expect(second.said).toEqual([
      { type: 'input', data: 'lost', writer: 'ada', seq: 2 },
      { type: 'input', data: ' and typed since', writer: 'ada', seq: 3 },
    ]),
  )
})

test('ends with the exit of the program and does not reattach', async () => {
  const { service, inPhase, states, stream } = await opened()
  const viewer = await service.attach(0, { state: 'exited', snapshot: 'bye' })
  viewer.socket.send(JSON.stringify({ type: 'exited', exit_code: null, signal: 'SIGKILL' }))
  viewer.socket.close(1000)
  await inPhase('ended')
  expect(states.at(-1)).toEqual({ phase: 'ended', end: { exitCode: null, signal: 'SIGKILL' } })
  expect(stream.type('x')).toBe(false)
  await until('the socket closed', () => viewer.socket.readyState === viewer.socket.CLOSED)
  expect(service.viewers).toHaveLength(1)
})

test('stops for a terminal that does not exist', async () => {
  const { service, inPhase } = await opened()
  const viewer = await service.viewer(0)
  viewer.socket.close(streamClose.notFound, 'Terminal not found')
  await inPhase('gone')
  expect(service.viewers).toHaveLength(1)
})

test('disconnects a hidden terminal with heavy output and redraws it when shown', async () => {
  const { service, stream, inPhase, hiddenOutputs, drawn } = await opened()
  const viewer = await service.attach(0)
  await inPhase('live')
  stream.hide()
  for (let sent = 0; sent < 3 * 1024 * 1024; sent += 64 * 1024) viewer.socket.send(Buffer.alloc(64 * 1024, 'y'))
  await inPhase('parked')
  expect(hiddenOutputs()).toBeGreaterThan(0)
  await until('the socket closed', () => viewer.socket.readyState === viewer.socket.CLOSED)
  expect(service.viewers).toHaveLength(1)
  stream.show()
  await service.attach(1, { snapshot: 'all of it' })
  await inPhase('live')
  await eventually(() => expect(drawn.at(-1)).toBe('redraw 80x24 all of it'))
})

test('disconnects hidden terminals and redraws a terminal only after new output', async () => {
  const { service, stream, inPhase, drawn } = await opened({ parkAfterMs: 50 })
  const viewer = await service.attach(0, { snapshot: 'first' })
  viewer.socket.send(Buffer.from('12345'))
  await eventually(() => expect(drawn).toEqual(['redraw 80x24 first', '12345']))
  stream.hide()
  await inPhase('parked')
  await until('the socket closed', () => viewer.socket.readyState === viewer.socket.CLOSED)
  stream.show()
  const second = await service.attach(1, { snapshot: 'first12345', cursor: 5 })
  second.socket.send(Buffer.from('6'))
  await eventually(() => expect(drawn).toEqual(['redraw 80x24 first', '12345', '6']))
  stream.hide()
  await inPhase('parked')
  stream.show()
  await service.attach(2, { snapshot: 'first123456 and more', cursor: 20 })
  await eventually(() => expect(drawn.at(-1)).toBe('redraw 80x24 first123456 and more'))
})

test('disconnects no terminal before its input is acknowledged', async () => {
  const { service, stream, inPhase, states } = await opened({ parkAfterMs: 50 })
  const viewer = await service.attach(0)
  await inPhase('live')
  stream.type('make')
  stream.hide()
  await until('the input', () => viewer.said.some(({ type }) => type === 'input'))
  await new Promise((resolve) => viewer.socket.ping(resolve))
  expect(states.at(-1)).toEqual({ phase: 'live' })
  viewer.socket.send(JSON.stringify({ type: 'taken', seq: 1 }))
  await inPhase('parked')
})

test('forwards titles and refusals', async () => {
  const { service, titles, refusals } = await opened()
  const viewer = await service.attach(0)
  viewer.socket.send(JSON.stringify({ type: 'title', title: 'vim' }))
  viewer.socket.send(JSON.stringify({ type: 'refused', error: 'no', code: 'terminal/exited' }))
  await eventually(() => expect(refusals).toEqual(['terminal/exited']))
  expect(titles).toEqual([null, 'vim'])
})

test('skips messages of unknown types and drops the connection on an invalid message', async () => {
  const { service, inPhase } = await opened()
  const viewer = await service.attach(0)
  viewer.socket.send('{"type":"surprise"}')
  await inPhase('live')
  viewer.socket.send('{"type":"title"}')
  await inPhase('reconnecting')
  await service.attach(1)
  await inPhase('live')
})
