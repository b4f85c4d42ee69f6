import { expect, test } from 'vitest'
import { parseCode, readCodeFiles } from './codeLanguage.ts'
import { findTiedSlices } from './tiedSlices.ts'

test('slices do not import each other', () => {
  const files = readCodeFiles(['src']).filter(({ path }) => !/\.test\.tsx?$/.test(path))
  expect(findTiedSlices(files)).toEqual([])
})

test('finds two slices that import each other through types and subpaths', () => {
  const files = [
    parseCode('src/main/agent/chat/a.ts', "import type { B } from '../budgets/b.ts'"),
    parseCode('src/main/agent/budgets/c.ts', "export { a } from '#agent/chat/a.ts'"),
    parseCode('src/main/agent/chat/d.ts', "import { e } from './e.ts'\nimport { f } from 'node:fs'"),
    parseCode('src/main/agent/wallet/g.ts', "import { a } from '../chat/a.ts'"),
  ]
  expect(findTiedSlices(files)).toEqual(['src/main/agent/budgets <> src/main/agent/chat'])
})
