import { expect, test } from 'vitest'
import { formatSize } from './sizeText.ts'

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '0.98 kB'],
  [3_500_000, '3.3 MB'],
  [150 * 1024 * 1024, '150 MB'],
  [5 * 1024 ** 3, '5 GB'],
])('formats %d bytes as %s', (bytes, text) => {
  expect(formatSize(bytes)).toBe(text)
})
