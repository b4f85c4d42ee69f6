import { expect, test } from 'vitest'
import { backPressure } from './backPressure.ts'

test('a program waits while one is too far behind, until all have caught up halfway', () => {
  const seen: string[] = []
  const demand = backPressure({
    onOutput: () => {},
    write: () => {},
    answer: () => {},
    resize: () => {},
    pause: () => seen.push('pause'),
    resume: () => seen.push('resume'),
    close: () => {},
    ended: new Promise(() => {}),
  })
  demand([{ behind: 100, allowed: 100 }])
  expect(seen).toEqual([])
  demand([
    { behind: 0, allowed: 100 },
    { behind: 101, allowed: 100 },
  ])
  demand([
    { behind: 0, allowed: 100 },
    { behind: 200, allowed: 100 },
  ])
  demand([{ behind: 51, allowed: 100 }])
  expect(seen).toEqual(['pause'])
  demand([{ behind: 50, allowed: 100 }])
  demand([])
  expect(seen).toEqual(['pause', 'resume'])
})
