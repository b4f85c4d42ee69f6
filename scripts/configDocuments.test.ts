import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createConfigDocuments } from './configDocuments.ts'

test('the schema and the guide match the current configuration', () => {
  for (const { path, text } of createConfigDocuments()) expect(readFileSync(path, 'utf8'), path).toBe(text)
})
