import { expect, test } from 'vitest'
import { findPorts, isOnLocalNetwork, parseLinkTarget } from './parseLinkTarget.ts'

test.each([
  ['https://example.com/a?b=c', 'https://example.com/a?b=c'],
  ['http://example.com', 'http://example.com/'],
  ['mailto:ada@example.com', 'mailto:ada@example.com'],
  ['https://exаmple.com', 'https://xn--exmple-4nf.com/'],
  ['https://user@example.com@evil.test/', 'https://user%40example.com@evil.test/'],
  ['https://localhost.example.com/', 'https://localhost.example.com/'],
  ['http://128.0.0.1/', 'http://128.0.0.1/'],
])('%s links to %s', (address, href) => {
  expect(parseLinkTarget(address)).toEqual({ kind: 'address', href })
})

test.each([
  ['http://localhost:8000', 8000, '/'],
  ['http://localhost/', 80, '/'],
  ['https://LOCALHOST', 443, '/'],
  ['http://localhost.:3000/a/b?c=d#e', 3000, '/a/b?c=d#e'],
  ['http://127.0.0.1:5173/', 5173, '/'],
  ['http://127.8.9.1:5173/', 5173, '/'],
  ['http://0.0.0.0:8080/', 8080, '/'],
  ['http://[::1]:8080/', 8080, '/'],
  ['http://[::]:8080/', 8080, '/'],
  ['http://[::ffff:127.0.0.1]:8080/', 8080, '/'],
  // Other notations for 127.0.0.1.
  ['http://0x7f.1:8080/', 8080, '/'],
  ['http://2130706433:8080/', 8080, '/'],
  ['http://user:secret@localhost:8080/', 8080, '/'],
  ['http://x.localhost:9222/json', 9222, '/json'],
  ['http://a.b.LOCALHOST.:9222/', 9222, '/'],
  ['http://localhost.localdomain:8080/', 8080, '/'],
  ['http://localhost6.localdomain6:8080/', 8080, '/'],
  ['http://ip6-localhost:8080/', 8080, '/'],
  ['http://ip6-loopback:8080/', 8080, '/'],
  ['http://[::127.0.0.1]:8080/', 8080, '/'],
  ['http://[::ffff:0.0.0.0]:8080/', 8080, '/'],
])('%s is a port of the sandbox and never of this computer', (address, port, path) => {
  expect(parseLinkTarget(address)).toEqual({ kind: 'port', port, path })
})

test.each([
  ['file:///etc/passwd', '/etc/passwd'],
  ['file://build-box/root/a%20b.txt', '/root/a b.txt'],
])('%s is a file in the sandbox', (address, path) => {
  expect(parseLinkTarget(address)).toEqual({ kind: 'file', path })
})

test.each([
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,x',
  'vscode://open',
  'ssh://host',
  'file:///%ff',
  'file:///%00a%0ab',
  'file:///a%1b]0;x',
  'example.com',
  '//example.com',
  '',
])('%j is not a link', (address) => {
  expect(parseLinkTarget(address)).toBeUndefined()
})

test.each([
  ['Listening on localhost:8000', 'localhost:8000', 8000, '/'],
  ['0.0.0.0:8080/docs?a=b, ready', '0.0.0.0:8080/docs?a=b,', 8080, '/docs?a=b,'],
  ['([::1]:3000)', '[::1]:3000', 3000, '/'],
])('%s', (text, linkText, port, path) => {
  const links = findPorts(text)
  expect(links.map(({ start, end, target }) => [text.slice(start, end), target])).toEqual([
    [linkText, { kind: 'port', port, path }],
  ])
})

test.each(['http://localhost:8000', 'localhost:70000', 'mylocalhost:80', 'localhost:80:12', 'localhost'])(
  '%s names no separate port',
  (text) => expect(findPorts(text)).toEqual([]),
)

test('links an exposed port as an address only on the port of the service', () => {
  const address = `http://8000-${'a'.repeat(32)}.localhost:7000/notes`
  expect(parseLinkTarget(address, '7000')).toEqual({ kind: 'address', href: address })
  expect(parseLinkTarget('http://app.localhost:7000/', '7000')?.kind).toBe('address')
  expect(parseLinkTarget(address, '7001')).toEqual({ kind: 'port', port: 7000, path: '/notes' })
  expect(parseLinkTarget('http://localhost:7000/', '7000')?.kind).toBe('port')
  expect(parseLinkTarget('http://127.0.0.1:7000/', '7000')?.kind).toBe('port')
  expect(parseLinkTarget('http://app.localhost:7000/')?.kind).toBe('port')
})

test.each([
  'http://192.168.0.1/reboot',
  'http://10.1.2.3/',
  'http://172.31.0.1:8080/',
  'http://169.254.169.254/',
  'http://100.64.0.1/',
  'http://[fd00::1]/',
  'http://[fe80::1]/',
  'http://[::ffff:192.168.0.1]/',
  'http://router/',
  'http://printer.local./',
  'http://nas.home.arpa/',
])('%s is on the local network', (href) => expect(isOnLocalNetwork(href)).toBe(true))

test.each([
  'https://example.com/',
  'http://172.32.0.1/',
  'http://100.128.0.1/',
  'http://[2001:4860::8888]/',
  'mailto:a@b.c',
])('%s is not on the local network', (href) => expect(isOnLocalNetwork(href)).toBe(false))
