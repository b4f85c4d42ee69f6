import { once } from 'node:events'
import { createServer } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { limitConnections } from './limitConnections.ts'

test('limits connections per address and frees a slot on close', async () => {
  const server = createServer()
  limitConnections(server, 2)
  const connect = (remoteAddress: string): Socket => {
    const socket = new Socket()
    Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress })
    server.emit('connection', socket)
    return socket
  }
  const [first, second, third] = [connect('203.0.113.7'), connect('203.0.113.7'), connect('203.0.113.7')]
  const isOpen = (socket: Socket) => !socket.destroyed
  expect([first, second, third].map(isOpen)).toEqual([true, true, false])
  expect(isOpen(connect('203.0.113.8'))).toBe(true)
  expect(Array.from({ length: 5 }, () => connect('127.0.0.1')).every(isOpen)).toBe(true)
  first.destroy()
  await once(first, 'close')
  expect([connect('203.0.113.7'), connect('203.0.113.7')].map(isOpen)).toEqual([true, false])
})
