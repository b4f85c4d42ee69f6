import { expect, test } from 'vitest'
import { fillPrompt, promptVariables } from './promptText.ts'

test('finds each variable once in text order', () => {
  expect(promptVariables('{{ tone }}: {{text}} ({{tone}}) {{target language}}')).toEqual([
    'tone',
    'text',
    'target language',
  ])
  expect(promptVariables('{ { a } } {{}} {{a.b}} {{{{x}}}}')).toEqual(['x'])
})

test('fills in values verbatim without expanding them', () => {
  expect(fillPrompt('{{a}} {{ b }} {{c}}', { a: '{{b}}', b: '$& $1' })).toBe('{{b}} $& $1 {{c}}')
  expect(fillPrompt('{{constructor}} {{toString}}', {})).toBe('{{constructor}} {{toString}}')
})

test('parses a long text with unclosed variables quickly', () => {
  expect(promptVariables(`${'{{a '.repeat(100_000)}`)).toEqual([])
})
