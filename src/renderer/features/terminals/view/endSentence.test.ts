import { expect, test } from 'vitest'
import { describeEnd, endSentence, endTone } from './endSentence.ts'

test.each([
  [{ exitCode: 0, signal: null }, 'Exited with code 0', 'neutral'],
  [{ exitCode: 1, signal: null }, 'Exited with code 1', 'negative'],
  [{ exitCode: 137, signal: 'SIGKILL' }, 'Ended by SIGKILL', 'negative'],
  [{ exitCode: null, signal: null }, 'Ended (exit code unknown)', 'caution'],
] as const)('describes %o as %s', (end, sentence, tone) => {
  expect(endSentence(end)).toBe(sentence)
  expect(endTone(end)).toBe(tone)
})

test.each([
  [false, 'Ended when the sandbox stopped'],
  [true, 'Ended when the sandbox restarted'],
])('a terminal that ended with its sandbox says so (sandbox runs again: %s)', (runs, sentence) => {
  const ended = { state: 'exited', exit_code: 137, signal: 'SIGKILL', ended_with_sandbox: true } as const
  const end = describeEnd(ended, runs)
  expect(end && endSentence(end)).toBe(sentence)
  expect(end && endTone(end)).toBe('neutral')
})

test('a killed terminal says so regardless of later changes of its sandbox', () => {
  const end = describeEnd({ state: 'exited', exit_code: 137, signal: 'SIGKILL', ended_with_sandbox: false }, false)
  expect(end && endSentence(end)).toBe('Ended by SIGKILL')
  expect(
    describeEnd({ state: 'running', exit_code: null, signal: null, ended_with_sandbox: false }, true),
  ).toBeUndefined()
})
