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
])('accepts Host %s on a connection to %s', (host, address) => {
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
])('rejects Host %j on a connection to %s', (host, address) => {
  expect(request(host, address)).toBe('')
})

test('the default port of the scheme may be omitted', () => {
  expect(request('192.168.1.5', '192.168.1.5', 80)).toBe('192.168.1.5')
  expect(request('192.168.1.5', '192.168.1.5', 443)).toBe('')
})

test('the private endpoint accepts only the listen address of the service', () => {
  const over = (host: string) => here({ headers: { host }, socket: own })
  expect(over('127.0.0.1:4000')).toBe('127.0.0.1:4000')
  for (const otherHost of ['127.0.0.1:4001', 'localhost:4000', 'steward.example', '']) expect(over(otherHost)).toBe('')
})

test('a connection without an address is rejected', () => {
  expect(here({ headers: { host: '127.0.0.1:4000' }, socket: {} })).toBe('')
})
