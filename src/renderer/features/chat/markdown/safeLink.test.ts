import { expect, test } from 'vitest'
import { isDrawnImage, parseSafeLink } from './safeLink.ts'

test.each([
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' java\nscript:alert(1)',
  'javascript&colon;alert(1)',
  'vbscript:x',
  'data:text/html,<script>alert(1)</script>',
  'data:image/svg+xml,<svg onload=alert(1)>',
  'blob:http://127.0.0.1/x',
  'file:///etc/passwd',
  'steward://x',
  'about:blank',
  '/local/wallet',
  '//evil.example',
  '#/settings/keys',
  '?x',
  '',
  'https://',
  'http:///',
  `https://example.com/${'a'.repeat(10_000)}`,
])('%s is not a safe link', (address) => {
  expect(parseSafeLink(address)).toBeUndefined()
})

test('shows the real host of a link despite misleading text before it', () => {
  expect(parseSafeLink('https://bank.example@evil.example/x')).toEqual({
    href: 'https://evil.example/x',
    host: 'evil.example',
  })
  expect(parseSafeLink('https://exаmple.com')?.host).toBe('xn--exmple-4nf.com') // the `а` is Cyrillic
  expect(parseSafeLink('http:\\\\evil.example\\x')?.host).toBe('evil.example')
  expect(parseSafeLink('mailto:a@b.example?subject=x')).toEqual({
    href: 'mailto:a@b.example?subject=x',
    host: 'a@b.example',
  })
})

test('renders only inline raster images', () => {
  expect(isDrawnImage('data:image/png;base64,iVBORw0KGgo=')).toBe(true)
  for (const address of [
    'data:image/svg+xml;base64,PHN2Zz4=',
    'data:text/html;base64,PHN2Zz4=',
    'data:image/png,x',
    'https://example.com/a.png',
    '/local/chat/attachments/x/content',
  ]) {
    expect(isDrawnImage(address)).toBe(false)
  }
})
