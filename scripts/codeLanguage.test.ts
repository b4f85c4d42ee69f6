import { expect, test } from 'vitest'
import { findViolations, parseCode } from './codeLanguage.ts'
import { findSubjectProblem } from './commitSubjects.ts'

function findRules(text: string): string[] {
  return findViolations(parseCode('src/planted.ts', text)).map(({ rule, line }) => `${line} ${rule}`)
}

test.each(['/** What is paid. */', '// Of the caller.', '/**\n * Where it runs.\n */', '/** Undefined if absent. */'])(
  'rejects the comment %s',
  (comment) => {
    expect(findRules(`${comment}\nconst price = 1\n`)).toEqual(['1 comment-opening'])
  },
)

test.each([
  ['// Stored by itself.', 1],
  ['/** Kept anew. */', 2],
])('counts each banned phrase in %s', (comment, count) => {
  expect(findRules(`${comment}\nconst price = 1\n`)).toEqual(Array.from({ length: count }, () => '1 comment-phrase'))
})

test.each(['const given = 1', 'function pay(askedPrice: number) {}', 'type Order = { keptUntil: number }'])(
  'rejects the name in %s',
  (code) => {
    expect(findRules(code)).toEqual(['1 identifier-part'])
  },
)

test('rejects a destructured binding but accepts the property it renames', () => {
  expect(findRules('const { kept: row } = cache')).toEqual([])
  expect(findRules('const { row: kept } = cache')).toEqual(['1 identifier-part'])
})

test.each(['const mostBytes = 1', 'const usualPort = 1', 'function needOwner() {}'])(
  'rejects the prefix in %s',
  (code) => {
    expect(findRules(code)).toEqual(['1 limit-prefix'])
  },
)

test('rejects participle names of exported functions but accepts verbs that resemble one', () => {
  expect(findRules('export function settledPayment() {}')).toEqual(['1 participle-export'])
  expect(findRules('export function feedParser() {}\nexport function settlePayment() {}')).toEqual([])
})

test('accepts glossary-style comments and wire names', () => {
  const text = '/** Reserves credits. */\n// Whether the row is stored.\nconst asked_at = 1\n'
  expect(findRules(text)).toEqual([])
})

test.each([
  ['fix(chat): cap output buffered for a stalled client', undefined],
  ['fix(chat): capped output', '"capped" is not an imperative'],
  ['a reader who takes nothing is sent no more than a piece', 'not `type(scope): verb object`'],
  [`docs: ${'describe '.repeat(8)}it`, '80 characters, at most 60'],
])('checks the commit subject %s', (subject, problem) => {
  expect(findSubjectProblem(subject)).toBe(problem)
})
