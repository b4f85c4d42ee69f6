import { expect, test } from 'vitest'
import { createTokenizers } from './tokenizer.ts'
import { tokenKinds } from './tokens.ts'

const open = createTokenizers({ maxLineMs: 60_000 })
const lines = [
  'const text = `a',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the string contains code
  '  ${one + `${two}`} b',
  '` // end',
  '/* a comment',
  '   of two lines */ export class A<T> { }',
  "import { b } from 'b'",
]

test('colors lines passed one by one like lines passed together', async () => {
  const whole = await open().take('typescript', lines)
  const tokenizer = open()
  const single = []
  for (const line of lines) single.push(...((await tokenizer.take('typescript', [line])) ?? []))
  expect(single).toEqual(whole)
  const lengths = (whole ?? []).map((tokens) => tokens.filter((_, at) => at % 2 === 0).reduce((sum, it) => sum + it, 0))
  expect(lengths).toEqual(lines.map(({ length }) => length))
  expect(whole?.[4]?.[1]).toBe(tokenKinds.indexOf('comment'))
})

test('colors keywords but not operators', async () => {
  const line = "const { a } = { b: await c('x') && d }"
  const [tokens = []] = (await open().take('typescript', [line])) ?? []
  const keywords: string[] = []
  let at = 0
  for (let index = 0; index < tokens.length; index += 2) {
    const end = at + (tokens[index] ?? 0)
    if (tokenKinds[tokens[index + 1] ?? 0] === 'keyword') keywords.push(line.slice(at, end).trim())
    at = end
  }
  expect(at).toBe(line.length)
  expect(keywords).toEqual(['const', 'await'])
})

test('accepts language aliases and leaves unknown languages plain', async () => {
  expect(await open().take('py', ['def f(): pass'])).toHaveLength(1)
  expect(await open().take('constructor', ['x'])).toBeUndefined()
  expect(await open().take('no-such-language', ['x'])).toBeUndefined()
})

test('leaves a line of a million characters plain and colors the next one', async () => {
  const [long, next] = (await open().take('javascript', ['('.repeat(1_000_000), 'const a = 1'])) ?? []
  expect(long).toEqual([1_000_000, 0])
  expect(next?.length).toBeGreaterThan(2)
})
