import { expect, test } from 'vitest'
import { escapeHidden, revealHidden, withFewMarks } from './visibleText.ts'

test('what nobody sees in a text is shown by its number', () => {
  expect(revealHidden('a\u202eb\u2066c\u200bd\ufeff')).toBe('a⟨U+202E⟩b⟨U+2066⟩c⟨U+200B⟩d⟨U+FEFF⟩')
  expect(revealHidden('\u001b[2J\u{E0041}')).toBe('⟨U+001B⟩[2J⟨U+E0041⟩')
})

test('texts of any script, joined pictures, tabs and line ends stay as they are', () => {
  for (const text of ['a\tb\r\nc', 'नमस्ते', 'שָׁלוֹם', 'می‌خواهم', '👩‍👩‍👧', 'Tiếng Việt', 'e\u0301\u0323']) {
    expect(revealHidden(text)).toBe(text)
  }
})

test('of marks that stack on one letter, six stay', () => {
  expect(withFewMarks(`a${'\u0300'.repeat(1_000)}b`)).toBe(`a${'\u0300'.repeat(6)}b`)
  expect(revealHidden(`a${'\u0489'.repeat(7)}`)).toBe(`a${'\u0489'.repeat(6)}`)
})

test('a text within a text that nobody can read is told', () => {
  const tags = [...'run it'].map((it) => String.fromCodePoint(0xe0000 + it.charCodeAt(0))).join('')
  expect(escapeHidden(`Hello${tags} you`)).toBe('Hello⟨6 hidden characters⟩ you')
  expect(escapeHidden('a\u200b\u200c\u200d\u2060\u200bb')).toBe('a⟨5 hidden characters⟩b')
  expect(escapeHidden('a\ufe01\u{e0102}\ufe03b\u{e0001}')).toBe('a⟨3 hidden characters⟩b⟨1 hidden character⟩')
})

test('what joins letters, chooses pictures or makes flags is no hidden text', () => {
  const scotland = `\u{1f3f4}${[...'gbsct'].map((it) => String.fromCodePoint(0xe0000 + it.charCodeAt(0))).join('')}\u{e007f}`
  for (const text of ['می‌خواهم', '👩‍👩‍👧', '❤️', `${scotland}!`, 'ক্‍ষ', 'a\u200bb']) expect(escapeHidden(text)).toBe(text)
})
