import { expect, test } from 'vitest'
import { ownHost } from './ownHost.ts'

const here = ownHost({ listenHost: 'steward.lan', scheme: 'http' })
const at = (host: string, localAddress: string, localPort = 4000) =>
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
  expect(at(host, address)).toBe(host.toLowerCase())
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
  expect(at(host, address)).toBe('')
})

test('the port of the scheme need not be named', () => {
  expect(at('192.168.1.5', '192.168.1.5', 80)).toBe('192.168.1.5')
  expect(at('192.168.1.5', '192.168.1.5', 443)).toBe('')
})
