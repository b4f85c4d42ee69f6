import { expect, test } from 'vitest'
import { createDownloadHeaders, formatContentDisposition } from './downloadHeaders.ts'

test.each([
  ['plain.txt', `attachment; filename="plain.txt"; filename*=UTF-8''plain.txt`],
  ['ü "1".txt', `attachment; filename="_ _1_.txt"; filename*=UTF-8''%C3%BC%20%221%22.txt`],
  ["a\r\nb';c", `attachment; filename="a__b__c"; filename*=UTF-8''a%0D%0Ab%27%3Bc`],
])('%j is encoded safely in Content-Disposition', (name, expected) =>
  expect(formatContentDisposition(name)).toBe(expected),
)

test('only images have their own content type', () => {
  expect(createDownloadHeaders('a.PNG')['content-type']).toBe('image/png')
  for (const name of ['a.html', 'a.js', 'a.pdf', 'png']) {
    expect(createDownloadHeaders(name)['content-type']).toBe('application/octet-stream')
  }
  expect(createDownloadHeaders('x.svg')['content-security-policy']).toContain('; sandbox;')
})
