import { expect, test } from 'vitest'
import { matchesQuery } from './sandboxFilter.ts'

const sandbox = { id: 'ab12cd', name: 'Build box', status: 'running', image: 'tools', runtime: 'bubblewrap' } as const
const isMatch = (written: string) => matchesQuery(sandbox as never, written)

test('matches a sandbox by every search word', () => {
  expect(['', 'build', 'BOX run', 'tools', 'ab12c', 'bubble build'].map(isMatch)).toEqual(Array(6).fill(true))
  expect(['other', 'build stopped', 'ab1', 'b12c'].map(isMatch)).toEqual([false, false, false, false])
})
