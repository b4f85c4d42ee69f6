import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createErrorDocument } from './errorDocuments.ts'

test('docs/errors.md lists the error catalogue', () => {
  const { path, text } = createErrorDocument()
  expect(readFileSync(path, 'utf8')).toBe(text)
})
