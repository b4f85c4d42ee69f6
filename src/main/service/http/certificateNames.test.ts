import { expect, test } from 'vitest'
import { isNameMatch } from './certificateNames.ts'

test.each([
  ['steward.example.org', 'steward.example.org', true],
  ['other.example.org', 'steward.example.org', false],
  ['steward.example.org', '*.example.org', true],
  ['a.steward.example.org', '*.example.org', false],
  ['example.org', '*.example.org', false],
  ['.example.org', '*.example.org', false],
])('matches host %s against certificate name %s: %s', (name, pattern, matches) =>
  expect(isNameMatch(name, pattern)).toBe(matches),
)
