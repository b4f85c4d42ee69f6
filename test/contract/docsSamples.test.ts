import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

/** Code blocks of the guide, in order, with their files. */
const sources = ['src/shared/contract/accounts.ts', 'src/main/service/accounts/accountRoutes.ts']

test('code samples in adding-a-feature.md match the project sources', () => {
  const blocks = [...read('docs/adding-a-feature.md').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, block = '']) => block)
  expect(blocks).toHaveLength(sources.length)
  for (const [index, path] of sources.entries()) {
    const parts = (blocks[index] ?? '').split(/^ *\/\/ …\n/m)
    for (const part of parts) expect(read(path)).toContain(part)
  }
})
