import { expect, test } from 'vitest'
import { linkTarget } from './terminalLinks.ts'

test.each([
  ['https://example.com/a?b=c', 'https://example.com/a?b=c'],
  ['http://example.com', 'http://example.com/'],
  ['mailto:ada@example.com', 'mailto:ada@example.com'],
  ['https://exаmple.com', 'https://xn--exmple-4nf.com/'],
  ['https://user@example.com@evil.test/', 'https://user%40example.com@evil.test/'],
])('%s leads to %s', (address, target) => {
  expect(linkTarget(address)).toBe(target)
})

test.each([
  'file:///etc/passwd',
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,x',
  'vscode://open',
  'ssh://host',
  'example.com',
  '//example.com',
  '',
])('%j leads nowhere', (address) => {
  expect(linkTarget(address)).toBeUndefined()
})
