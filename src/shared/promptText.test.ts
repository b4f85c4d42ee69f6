import { expect, test } from 'vitest'
import { fillPrompt, promptVariables } from './promptText.ts'

test('finds each name once, in the order of the text', () => {
  expect(promptVariables('{{ tone }}: {{text}} ({{tone}}) {{target language}}')).toEqual([
    'tone',
    'text',
    'target language',
  ])
  expect(promptVariables('{ { a } } {{}} {{a.b}} {{{{x}}}}')).toEqual(['x'])
})

test('fills in values as they are, whatever they look like', () => {
  expect(fillPrompt('{{a}} {{ b }} {{c}}', { a: '{{b}}', b: '$& $1' })).toBe('{{b}} $& $1 {{c}}')
  expect(fillPrompt('{{constructor}} {{toString}}', {})).toBe('{{constructor}} {{toString}}')
})

test('a long text without an end takes no long time', () => {
  expect(promptVariables(`${'{{a '.repeat(100_000)}`)).toEqual([])
})
