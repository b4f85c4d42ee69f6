import { expect, test } from 'vitest'
import { createBackPressure } from './backPressure.ts'

test('a program pauses while one viewer lags, until all have caught up halfway', () => {
  const calls: string[] = []
  const demand = createBackPressure({
    onOutput: () => {},
    write: () => {},
    answer: () => {},
    resize: () => {},
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
    close: () => {},
    ended: new Promise(() => {}),
  })
  demand([{ lag: 100, allowed: 100 }])
  expect(calls).toEqual([])
  demand([
    { lag: 0, allowed: 100 },
    { lag: 101, allowed: 100 },
  ])
  demand([
    { lag: 0, allowed: 100 },
    { lag: 200, allowed: 100 },
  ])
  demand([{ lag: 51, allowed: 100 }])
  expect(calls).toEqual(['pause'])
  demand([{ lag: 50, allowed: 100 }])
  demand([])
  expect(calls).toEqual(['pause', 'resume'])
})
