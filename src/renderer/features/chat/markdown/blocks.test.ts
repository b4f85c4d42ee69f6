import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Block, splitBlocks } from './blocks.ts'

const kinds = (text: string) => splitBlocks(text).blocks.map(({ kind }) => kind)
const texts = (text: string) => splitBlocks(text).blocks.map((block) => ('text' in block ? block.text : block.kind))

test('splits paragraphs, headings and code into separate blocks', () => {
  expect(texts('One.\nStill one.\n\nTwo.\n\n\n# Three\nFour')).toEqual(['One.\nStill one.', 'Two.', '# Three', 'Four'])
  expect(texts('Title\n=====\nText')).toEqual(['Title\n=====', 'Text'])
  expect(splitBlocks('Look:\n```ts title=x\na\n\nb\n```\nEnd').blocks).toEqual([
    { kind: 'text', text: 'Look:' },
    { kind: 'code', language: 'ts', code: 'a\n\nb', closed: true },
    { kind: 'text', text: 'End' },
  ])
})

test('does not split a list with indented content or code', () => {
  expect(texts('- a\n\n- b\n\n  more\n\nAfter')).toEqual(['- a\n\n- b\n\n  more', 'After'])
  expect(texts('1. a\n   ```\n   x\n\n   y\n   ```\n2. b\n\nAfter')).toEqual([
    '1. a\n   ```\n   x\n\n   y\n   ```\n2. b',
    'After',
  ])
})

test('treats an unclosed fence as code to the end, including other fences', () => {
  expect(splitBlocks('````md\n```js\n# no\n```\n~~~').blocks).toEqual([
    { kind: 'code', language: 'md', code: '```js\n# no\n```\n~~~', closed: false },
  ])
  expect(kinds('``` not `code`')).toEqual(['text'])
  expect(kinds('    ```\n    indented')).toEqual(['text'])
})

test('parses formulas in dollar signs or TeX brackets', () => {
  const math = (tex: string, closed = true): Block => ({ kind: 'math', tex, closed })
  expect(splitBlocks('$$x$$').blocks).toEqual([math('x')])
  expect(splitBlocks('$$\nx\n\ny\n$$').blocks).toEqual([math('x\n\ny')])
  expect(splitBlocks('\\[\nx\n\\]\nText').blocks).toEqual([math('x'), { kind: 'text', text: 'Text' }])
  expect(splitBlocks('$$\nx').blocks).toEqual([math('x', false)])
})

test('splits a table into row groups and leaves full groups unchanged', () => {
  const head = '| a | b |\n|---|---|'
  const rows = (count: number) => Array.from({ length: count }, (_, at) => `| ${at} | x |`).join('\n')
  const groups = (count: number) =>
    splitBlocks(`Text\n${head}\n${rows(count)}`).blocks.flatMap((block) => (block.kind === 'table' ? block.groups : []))
  expect(groups(60)).toHaveLength(3)
  expect(groups(61).slice(0, 2)).toEqual(groups(60).slice(0, 2))
  const wide = `|${'a|'.repeat(100)}\n|${'-|'.repeat(100)}\n${`|${'b|'.repeat(100)}\n`.repeat(12)}`
  const [table] = splitBlocks(wide).blocks
  expect(table?.kind === 'table' && table.groups.map((it) => it.split('\n').length)).toEqual([5, 5, 2])
  expect(kinds(`${head}\n${rows(1)}\n\nAfter`)).toEqual(['table', 'text'])
})

test('only the last blocks change while a text grows', () => {
  const lines = fc.array(
    fc.constantFrom(
      '',
      'text',
      '- item',
      '  more',
      '```ts',
      '```',
      '$$',
      '| a | b |',
      '|---|---|',
      '# head',
      '> quote',
      '[a]: x',
    ),
    { maxLength: 30 },
  )
  fc.assert(
    fc.property(lines, (written) => {
      const before = splitBlocks(written.join('\n')).blocks
      const { blocks } = splitBlocks([...written, 'and', 'more'].join('\n'))
      // Excludes the last two blocks, because a table head becomes a table only with the line below it.
      const settled = before.slice(0, -2)
      expect(blocks.slice(0, settled.length)).toEqual(settled)
    }),
  )
})

test('preserves every line of any text', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '\n', ' ', '`', '$', '|', '-', '>', '#', '[', ']', ':', '\\', '=') }),
      (text) => {
        const letters = (part: string) => part.split('a').length
        const split = splitBlocks(text)
          .blocks.map((block) => {
            if (block.kind === 'code') return `${block.language}\n${block.code}`
            if (block.kind === 'math') return block.tex
            return block.kind === 'table' ? [block.head, ...block.groups].join('\n') : block.text
          })
          .join('\n')
        const infos = text
          .split('\n')
          .filter((line) => /^ {0,3}(`{3,}|~{3,})/.test(line))
          .join('')
        expect(letters(split) + letters(infos)).toBeGreaterThanOrEqual(letters(text))
      },
    ),
  )
})

test('collects link definitions from the whole text except code', () => {
  expect(splitBlocks('[a][x]\n\n```\n[y]: no\n```\n\n[x]: https://example.com').definitions).toBe(
    '[x]: https://example.com',
  )
})
