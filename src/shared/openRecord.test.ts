import { expect, test } from 'vitest'
import { openRecord, toPlainWord } from './openRecord.ts'

test('returns the fallback for unknown words, including inherited names', () => {
  const words = openRecord({ running: 'Running', stopped: 'Stopped' }, toPlainWord)
  const getWord = (word: string) => words[word as keyof typeof words]
  expect(['running', 'awaiting-key', 'constructor', 'toString'].map(getWord)).toEqual([
    'Running',
    'Awaiting key',
    'Constructor',
    'ToString',
  ])
  expect(Object.keys(words)).toEqual(['running', 'stopped'])
})

test('formats unknown words as plain text and truncates long ones', () => {
  expect(['sandbox.frozen', 'needs_key', '', '-', 'x'.repeat(60)].map(toPlainWord)).toEqual([
    'Sandbox frozen',
    'Needs key',
    'Unknown',
    'Unknown',
    `X${'x'.repeat(38)}…`,
  ])
})
