import { expect, test } from 'vitest'
import { isConnectionAllowed } from '#platform/net/strangerAddress.ts'
import { parseSellerAddress } from './sellerAddress.ts'

test.each([
  'https://shop.example/report?x=1',
  'https://shop.example:8443/',
  'http://127.0.0.1:4000/pay',
  'http://localhost:4000/',
  'http://3000-abc.localhost:4000/',
  'http://[::1]:4000/',
  'https://8.8.8.8/',
])('accepts the seller address %s', (address) => {
  expect(parseSellerAddress(address).protocol).toMatch(/^https?:$/)
})

test.each([
  ['http://shop.example/', 'Use https for'],
  ['http://localhost.evil.example/', 'Use https for'],
  ['http://127.0.0.1.evil.example/', 'Use https for'],
  ['https://10.0.0.1/', 'private address'],
  ['https://192.168.1.1/', 'private address'],
  ['https://169.254.169.254/latest/meta-data', 'private address'],
  ['https://0x7f.1/', undefined],
  ['https://[fd00::1]/', 'private address'],
  ['https://[::ffff:10.0.0.1]/', 'private address'],
  ['https://0.0.0.0/', 'private address'],
  ['http://0.0.0.0/', 'Use https for'],
  ['ftp://shop.example/', 'not supported'],
  ['file:///etc/passwd', 'not supported'],
  ['https://user:pass@shop.example/', 'must not have a user name'],
  ['https://shop.example@evil.example/', 'must not have a user name'],
  ['https://shop.example/\nx', 'not a valid URL'],
  ['nowhere', 'not a valid URL'],
])('%s is refused', (address, words) => {
  // 0x7f.1 is another notation for 127.0.0.1, the loopback address of this computer.
  if (words === undefined) return expect(parseSellerAddress(address).hostname).toBe('127.0.0.1')
  expect(() => parseSellerAddress(address)).toThrow(
    expect.objectContaining({ code: 'purchase/address', message: expect.stringContaining(words) }),
  )
})

test('public names may not resolve to private addresses and local names only to loopback', () => {
  expect(isConnectionAllowed('93.184.215.14', 'shop.example')).toBe(true)
  for (const address of ['127.0.0.1', '10.1.2.3', '::1', 'fe80::1', '100.64.0.1'])
    expect(isConnectionAllowed(address, 'shop.example')).toBe(false)
  expect(isConnectionAllowed('127.0.0.1', 'localhost')).toBe(true)
  expect(isConnectionAllowed('93.184.215.14', 'localhost')).toBe(false)
  expect(isConnectionAllowed('10.0.0.1', 'a.localhost')).toBe(false)
})
