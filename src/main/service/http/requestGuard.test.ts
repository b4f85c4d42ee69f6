import { expect, test } from 'vitest'
import { createRequestGuard } from './requestGuard.ts'

const loopback = createRequestGuard({
  beyondLoopback: false,
  listenHost: '127.0.0.1',
  publicUrl: undefined,
  scheme: 'http',
})
const published = createRequestGuard({
  beyondLoopback: true,
  listenHost: '0.0.0.0',
  publicUrl: new URL('https://steward.example:8443/base'),
  scheme: 'https',
})

test.each(['localhost:80', 'LOCALHOST', '127.0.0.1:7000', '[::1]:7000'])('on loopback Host %s is accepted', (host) =>
  expect(() => loopback({ host })).not.toThrow(),
)

test.each([
  undefined,
  '',
  'evil.example',
  '10.0.0.1',
  '[fe80::1]',
  'localhost.',
  '3000-abc.localhost:1',
  'localhost@evil',
  'a b',
  '127.0.0.1:x',
])('on loopback Host %s is rejected', (host) =>
  expect(() => loopback({ ...(host !== undefined && { host }) })).toThrow(
    expect.objectContaining({ code: 'auth/host', status: 403 }),
  ),
)

test('beyond loopback only IP addresses and the public name are accepted', () => {
  for (const host of ['10.0.0.1:8443', '[fe80::1]:8443', 'steward.example:8443', '127.0.0.1']) {
    expect(() => published({ host })).not.toThrow()
  }
  expect(() => published({ host: 'rebound.example' })).toThrow(expect.objectContaining({ code: 'auth/host' }))
})

test('an origin must match the called origin or the public one', () => {
  const host = 'localhost:7000'
  expect(() => loopback({ host, origin: 'http://localhost:7000' })).not.toThrow()
  for (const origin of ['null', '', 'https://localhost:7000', 'http://localhost:7001', 'http://127.0.0.1:7000']) {
    expect(() => loopback({ host, origin })).toThrow(expect.objectContaining({ code: 'auth/origin' }))
  }
  expect(() => published({ host: '10.0.0.1', origin: 'https://steward.example:8443' })).not.toThrow()
  expect(() => published({ host: '10.0.0.1', origin: 'http://steward.example:8443' })).toThrow()
})

test('certificate names are accepted, even without a public name', () => {
  const certified = createRequestGuard({
    ...{ beyondLoopback: true, listenHost: '0.0.0.0', publicUrl: undefined, scheme: 'https' },
    certificateNames: ['steward.example.org', '*.team.example.org'],
  })
  for (const host of ['steward.example.org', 'steward.example.org:443', 'a.team.example.org']) {
    expect(() => certified({ host })).not.toThrow()
  }
  for (const host of ['other.example.org', 'team.example.org', 'a.b.team.example.org']) {
    expect(() => certified({ host })).toThrow(expect.objectContaining({ code: 'auth/host' }))
  }
})
