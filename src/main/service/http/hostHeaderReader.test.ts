import { expect, test } from 'vitest'
import { createHostHeaderReader } from './hostHeaderReader.ts'

const own = {}
const here = createHostHeaderReader({
  listenHost: 'steward.lan',
  scheme: 'http',
  end: { tookIn: ({ socket }) => socket === own },
  ownUrl: () => 'http://127.0.0.1:4000',
})
const request = (host: string, localAddress: string, localPort = 4000) =>
  here({ headers: { host }, socket: { localAddress, localPort } })

test.each([
  ['127.0.0.1:4000', '127.0.0.1'],
  ['localhost:4000', '127.0.0.1'],
  ['LOCALHOST:4000', '::1'],
  ['[::1]:4000', '::1'],
  ['192.168.1.5:4000', '192.168.1.5'],
  ['192.168.1.5:4000', '::ffff:192.168.1.5'],
  ['[fd00::5]:4000', 'fd00::5'],
  ['steward.lan:4000', '192.168.1.5'],
])('%s names the place at %s', (host, address) => {
  expect(request(host, address)).toBe(host.toLowerCase())
})

test.each([
  ['6.6.6.6:4000', '192.168.1.5'],
  ['192.168.1.5:4001', '192.168.1.5'],
  ['192.168.1.5', '192.168.1.5'],
  ['localhost:4001', '127.0.0.1'],
  ['localhost:4000', '192.168.1.5'],
  ['127.0.0.1:4000', '192.168.1.5'],
  ['steward.example:4000', '192.168.1.5'],
  ['', '192.168.1.5'],
])('%j does not name the place at %s', (host, address) => {
  expect(request(host, address)).toBe('')
})

test('the port of the scheme need not be named', () => {
  expect(request('192.168.1.5', '192.168.1.5', 80)).toBe('192.168.1.5')
  expect(request('192.168.1.5', '192.168.1.5', 443)).toBe('')
})

test('over the private end it is the address at which the service listens, and no other', () => {
  const over = (host: string) => here({ headers: { host }, socket: own })
  expect(over('127.0.0.1:4000')).toBe('127.0.0.1:4000')
  for (const otherHost of ['127.0.0.1:4001', 'localhost:4000', 'steward.example', '']) expect(over(otherHost)).toBe('')
})

test('a connection that has lost its address proves nothing', () => {
  expect(here({ headers: { host: '127.0.0.1:4000' }, socket: {} })).toBe('')
})
