import { expect, test } from 'vitest'
import { splitBlocks } from './blocks.ts'
import { isPlainParagraph, parseMarkdown } from './markdownTree.ts'

const long = 16_000
/** Inputs that make parsers slow, overflow the stack or hang. */
const attacks: Readonly<Record<string, string>> = {
  'quotes in quotes': '>'.repeat(10_000),
  'quotes with blanks': '> '.repeat(10_000),
  'lists in lists': '- '.repeat(8_000),
  'lists by indentation': Array.from({ length: 120 }, (_, at) => `${'  '.repeat(at)}- x`).join('\n'),
  'open brackets': '['.repeat(long),
  'open pictures': '!['.repeat(long / 2),
  'open links': '[a]('.repeat(long / 4),
  'links in links': `${'[a](b'.repeat(3_000)}${')'.repeat(3_000)}`,
  'open emphasis': '**a '.repeat(long / 4),
  'marks of both kinds': '*a _b '.repeat(long / 6),
  strikes: '~~a'.repeat(long / 3),
  'ticks of all lengths': Array.from({ length: 170 }, (_, at) => `${'`'.repeat(at + 1)}x`).join(''),
  'open HTML': '<a '.repeat(long / 3),
  'open comments': '<!--'.repeat(long / 4),
  'half entities': '&#'.repeat(long / 2),
  'addresses of mail': 'a@a.'.repeat(long / 4),
  'addresses of the web': 'http://a'.repeat(long / 8),
  'open formulas': '$a'.repeat(long / 2),
  'TeX brackets': '\\('.repeat(long / 2),
  headings: 'a\n=\n'.repeat(long / 4),
  definitions: '[a]: b\n'.repeat(long / 7),
  footnotes: '[^a]'.repeat(long / 4),
  'a wide table': `${'|'.repeat(2_000)}\n${'|-'.repeat(2_000)}|\n${'|a'.repeat(2_000)}`,
  'a long table': `|a|b|\n|-|-|\n${'|1|2|\n'.repeat(5_000)}`,
  'one long line': 'word '.repeat(40_000),
}

test.each(Object.entries(attacks))('%s: parses in blocks or falls back to plain text', (_, text) => {
  for (const block of splitBlocks(text).blocks) {
    if (block.kind === 'text') parseMarkdown(block.text)
    if (block.kind === 'table') for (const rows of block.groups) parseMarkdown(`${block.head}\n${rows}`)
  }
})

test('limits the nesting depth', () => {
  const depth = (node: object): number => {
    const children = 'children' in node && Array.isArray(node.children) ? node.children : []
    return 1 + Math.max(0, ...children.map(depth))
  }
  for (const text of ['>'.repeat(10_000), '> '.repeat(5_000), '- '.repeat(5_000), '1. > '.repeat(2_000)]) {
    const tree = parseMarkdown(text)
    expect(tree === undefined || depth(tree) < 40).toBe(true)
  }
})

test('distinguishes HTML from text and never renders it as an element', () => {
  const tree = parseMarkdown('<script>alert(1)</script>\n\n<b>x</b> &lt;i&gt;')
  const types = JSON.stringify(tree)
  expect(types).toContain('"type":"html","value":"<script>alert(1)</script>"')
  expect(types).toContain('<i>')
})

test('resolves a link definition from another part of the text', () => {
  expect(JSON.stringify(parseMarkdown('[a][x]', '[x]: https://example.com'))).toContain('https://example.com')
  expect(JSON.stringify(parseMarkdown('no link', '[x]: https://example.com'))).not.toContain('https://example.com')
})

test('the shortcut for plain paragraphs matches the parser', () => {
  for (const text of ['Yes.', 'It “works”, mostly (2 of 3).', 'Über 50 % — ja.']) {
    expect(isPlainParagraph(text)).toBe(true)
    expect(parseMarkdown(text)?.children).toMatchObject([
      { type: 'paragraph', children: [{ type: 'text', value: text }] },
    ])
  }
  for (const text of [
    '1. one',
    '- one',
    'a\nb',
    '*a*',
    'www.example.com',
    'see www.example.com',
    'a@b.example',
    '# a',
    'a  ',
    '$x$',
  ]) {
    expect(isPlainParagraph(text)).toBe(false)
  }
})
