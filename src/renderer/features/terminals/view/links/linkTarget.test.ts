import { expect, test } from 'vitest'
import { linkTarget, namedPorts } from './linkTarget.ts'

test.each([
  ['https://example.com/a?b=c', 'https://example.com/a?b=c'],
  ['http://example.com', 'http://example.com/'],
  ['mailto:ada@example.com', 'mailto:ada@example.com'],
  ['https://exаmple.com', 'https://xn--exmple-4nf.com/'],
  ['https://user@example.com@evil.test/', 'https://user%40example.com@evil.test/'],
  ['https://localhost.example.com/', 'https://localhost.example.com/'],
  ['http://128.0.0.1/', 'http://128.0.0.1/'],
])('%s leads to %s', (address, href) => {
  expect(linkTarget(address)).toEqual({ kind: 'address', href })
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
  // Other ways to write 127.0.0.1.
  ['http://0x7f.1:8080/', 8080, '/'],
  ['http://2130706433:8080/', 8080, '/'],
  ['http://user:secret@localhost:8080/', 8080, '/'],
])('%s is a port of the sandbox, and never of this computer', (address, port, path) => {
  expect(linkTarget(address)).toEqual({ kind: 'port', port, path })
})

test.each([
  ['file:///etc/passwd', '/etc/passwd'],
  ['file://build-box/root/a%20b.txt', '/root/a b.txt'],
])('%s is a file in the sandbox', (address, path) => {
  expect(linkTarget(address)).toEqual({ kind: 'file', path })
})

test.each([
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,x',
  'vscode://open',
  'ssh://host',
  'file:///%ff',
  'example.com',
  '//example.com',
  '',
])('%j leads nowhere', (address) => {
  expect(linkTarget(address)).toBeUndefined()
})

test.each([
  ['Listening on localhost:8000', 'localhost:8000', 8000, '/'],
  ['0.0.0.0:8080/docs?a=b, ready', '0.0.0.0:8080/docs?a=b,', 8080, '/docs?a=b,'],
  ['([::1]:3000)', '[::1]:3000', 3000, '/'],
])('%s', (text, shown, port, path) => {
  const found = namedPorts(text)
  expect(found.map(({ start, end, target }) => [text.slice(start, end), target])).toEqual([
    [shown, { kind: 'port', port, path }],
  ])
})

test.each(['http://localhost:8000', 'localhost:70000', 'mylocalhost:80', 'localhost:80:12', 'localhost'])(
  '%s names no port by itself',
  (text) => expect(namedPorts(text)).toEqual([]),
)
