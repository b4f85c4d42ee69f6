import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type WebSocket as ServerSocket, WebSocketServer } from 'ws'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import { eventually } from '#test/support/assertions/eventually.ts'
import { createLiveEvents, type LiveEvents } from './liveEvents.ts'

let server: WebSocketServer
let peers: ServerSocket[]
let events: LiveEvents | undefined

beforeEach(async () => {
  peers = []
  server = await listening(0)
})

afterEach(async () => {
  events?.close()
  await stop(server)
})

async function listening(port: number): Promise<WebSocketServer> {
  const opened = new WebSocketServer({ port, host: '127.0.0.1' })
  opened.on('connection', (peer) => {
    peers.push(peer)
    peer.send('{"type":"ready"}')
  })
  await new Promise((resolve) => opened.once('listening', resolve))
  return opened
}

async function stop(running: WebSocketServer): Promise<void> {
  for (const peer of running.clients) peer.terminate()
  await new Promise((resolve) => running.close(resolve))
}

const getPort = (running: WebSocketServer) => (running.address() as AddressInfo).port

function listen(): { received: LocalEvent[]; live: LiveEvents } {
  const received: LocalEvent[] = []
  const live = createLiveEvents({ url: `ws://127.0.0.1:${getPort(server)}`, pausesMs: [1] })
  events = live
  live.subscribe((event) => received.push(event))
  return { received, live }
}

test('delivers events in order and skips unknown messages', async () => {
  const { received, live } = listen()
  await eventually(() => expect(received).toEqual([{ type: 'ready' }]))
  expect(live.state()).toBe('open')
  const removed = { type: 'sandbox.removed', id: 'b'.repeat(32) }
  for (const text of ['{"type":"from.the.future"}', 'no json', JSON.stringify(removed)]) peers[0]?.send(text)
  await eventually(() => expect(received).toEqual([{ type: 'ready' }, removed]))
})

test('reconnects after a lost connection and delivers `ready` again', async () => {
  const { received, live } = listen()
  await eventually(() => expect(received).toHaveLength(1))
  const port = getPort(server)
  await stop(server)
  await eventually(() => expect(live.state()).toBe('lost'))
  server = await listening(port)
  await eventually(() => expect(live.state()).toBe('open'))
  await eventually(() => expect(received).toEqual([{ type: 'ready' }, { type: 'ready' }]))
})

test('does not reconnect after close', async () => {
  const { received, live } = listen()
  await eventually(() => expect(received).toHaveLength(1))
  live.close()
  await eventually(() => expect(server.clients.size).toBe(0))
  expect(live.state()).toBe('open')
  expect(peers).toHaveLength(1)
})

test('delivers nothing to a listener after it unsubscribes', async () => {
  const { live } = listen()
  const received: LocalEvent[] = []
  const leave = live.subscribe((event) => received.push(event))
  await eventually(() => expect(received).toHaveLength(1))
  leave()
  const removed = { type: 'sandbox.removed', id: 'b'.repeat(32) }
  const others: LocalEvent[] = []
  live.subscribe((event) => others.push(event))
  peers[0]?.send(JSON.stringify(removed))
  await eventually(() => expect(others).toHaveLength(1))
  expect(received).toEqual([{ type: 'ready' }])
})
