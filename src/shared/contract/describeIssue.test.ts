import { expect, test } from 'vitest'
import { z } from 'zod'
import { describeIssue } from './describeIssue.ts'
import { Intent } from './intents.ts'

const Fields = z.strictObject({
  name: z.string().min(1).max(5),
  code: z.string().min(2).optional(),
  list: z.array(z.string()).max(2).optional(),
  size: z.int().min(1).max(9).optional(),
  intent: Intent.optional(),
})

test.each<[what: unknown, sentence: string]>([
  [{}, '`name` is required.'],
  [{ name: 5 }, '`name` must be a string.'],
  [{ name: '' }, '`name` must not be empty.'],
  [{ name: 'abcdef' }, '`name` must have at most 5 characters.'],
  [{ name: 'a', code: 'b' }, '`code` must have at least 2 characters.'],
  [{ name: 'a', list: ['b', 'c', 'd'] }, '`list` must have at most 2 entries.'],
  [{ name: 'a', size: 0 }, '`size` must be at least 1.'],
  [{ name: 'a', size: 10 }, '`size` must be at most 9.'],
  [
    { name: 'a', intent: { kind: 'transaction' } },
    '`intent.kind` must be `identity.register`, `siwe`, `siws`, `x402.authorize`, `message` or `tool.call`.',
  ],
  [{ name: 'a', nmae: 'b' }, 'The request has no field `nmae`.'],
])('%j: %s', (input, sentence) => {
  const issue = Fields.safeParse(input).error?.issues[0]
  expect(issue && describeIssue(issue, input)).toBe(sentence)
})
