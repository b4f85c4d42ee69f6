import { expect, test } from 'vitest'
import { isLoopbackAddress, toClientNetwork } from './clientNetwork.ts'

test.each([
  ['1.2.3.4', '1.2.3.4'],
  ['::ffff:1.2.3.4', '1.2.3.4'],
  ['::FFFF:1.2.3.4', '1.2.3.4'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::9', '2001:db8:1:2'],
  ['2001:0DB8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
])('maps the address %s to the network %s', (address, network) => expect(toClientNetwork(address)).toBe(network))

test.each([
  ['127.0.0.1', true],
  ['127.8.8.8', true],
  ['::ffff:127.0.0.1', true],
  ['::1', true],
  ['128.0.0.1', false],
  ['::2', false],
])('detects whether %s is a loopback address: %s', (address, isLoopback) =>
  expect(isLoopbackAddress(address)).toBe(isLoopback),
)
