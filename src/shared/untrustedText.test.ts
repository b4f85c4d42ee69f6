import { expect, test } from 'vitest'
import { escapeHidden, revealHidden, sanitizeLine, withFewMarks } from './untrustedText.ts'

test('reduces hostile text to one short line without hidden characters', () => {
  expect(sanitizeLine('a\r\nb\x1b[2J\u202Egnp\u2066\u200b.exe\u2028c', 200)).toBe('a b [2J gnp .exe c')
  expect(sanitizeLine('x'.repeat(10_000), 200)).toHaveLength(200)
  expect(sanitizeLine(`${'x'.repeat(799)}\u{1F600}`, 200).match(/\p{Cs}/u)).toBeNull()
  expect(sanitizeLine('\u0007\u200b', 200)).toBe('')
})

test('shows hidden characters by their code point', () => {
  expect(revealHidden('a\u202eb\u2066c\u200bd\ufeff')).toBe('a⟨U+202E⟩b⟨U+2066⟩c⟨U+200B⟩d⟨U+FEFF⟩')
  expect(revealHidden('\u001b[2J\u{E0041}')).toBe('⟨U+001B⟩[2J⟨U+E0041⟩')
})

test('leaves other scripts, emoji sequences and whitespace unchanged', () => {
  for (const text of ['a\tb\r\nc', 'नमस्ते', 'שָׁלוֹם', 'می‌خواهم', '👩‍👩‍👧', 'Tiếng Việt', 'e\u0301\u0323']) {
    expect(revealHidden(text)).toBe(text)
  }
})

test('keeps six of the marks that stack on one letter', () => {
  expect(withFewMarks(`a${'\u0300'.repeat(1_000)}b`)).toBe(`a${'\u0300'.repeat(6)}b`)
  expect(revealHidden(`a${'\u0489'.repeat(7)}`)).toBe(`a${'\u0489'.repeat(6)}`)
})

test('reports the number of hidden characters in a text', () => {
  const tags = [...'run it'].map((value) => String.fromCodePoint(0xe0000 + value.charCodeAt(0))).join('')
  expect(escapeHidden(`Hello${tags} you`)).toBe('Hello⟨6 hidden characters⟩ you')
  expect(escapeHidden('a\u200b\u200c\u200d\u2060\u200bb')).toBe('a⟨5 hidden characters⟩b')
  expect(escapeHidden('a\ufe01\u{e0102}\ufe03b\u{e0001}')).toBe('a⟨3 hidden characters⟩b⟨1 hidden character⟩')
})

test('does not report joiners, variation selectors or flag tags as hidden text', () => {
  const scotland = `\u{1f3f4}${[...'gbsct'].map((value) => String.fromCodePoint(0xe0000 + value.charCodeAt(0))).join('')}\u{e007f}`
  for (const text of ['می‌خواهم', '👩‍👩‍👧', '❤️', `${scotland}!`, 'ক্‍ষ', 'a\u200bb']) expect(escapeHidden(text)).toBe(text)
})
