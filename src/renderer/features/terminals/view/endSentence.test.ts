import { expect, test } from 'vitest'
import { endSentence, endTone } from './endSentence.ts'

test.each([
  [{ exitCode: 0, signal: null }, 'Exited with code 0', 'neutral'],
  [{ exitCode: 1, signal: null }, 'Exited with code 1', 'negative'],
  [{ exitCode: 137, signal: 'SIGKILL' }, 'Killed by SIGKILL', 'negative'],
  [{ exitCode: null, signal: null }, 'Ended; its exit code is not known', 'caution'],
] as const)('%o: %s', (end, sentence, tone) => {
  expect(endSentence(end)).toBe(sentence)
  expect(endTone(end)).toBe(tone)
})
