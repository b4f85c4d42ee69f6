import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sheetColors } from './sheetStyle.ts'

const tokens = readFileSync(new URL('../../../renderer/styles/tokens.css', import.meta.url), 'utf8')

test.each([
  ['light', /:root \{([^}]*)\}/],
  ['dark', /:root\[data-theme="dark"\] \{([^}]*)\}/],
] as const)('the %s colours of a sheet are those of the window', (theme, block) => {
  const [, body = ''] = block.exec(tokens) ?? []
  const present = Object.fromEntries([...body.matchAll(/--([\w-]+): (#\w+);/g)].map(([, name, value]) => [name, value]))
  expect(present).toMatchObject(sheetColors[theme])
})
