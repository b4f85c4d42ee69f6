import { expect, test } from 'vitest'
import { createCurrentWork } from './currentWork.ts'
import { createStuckWorkDetector } from './stuckWork.ts'

const times = { stuckMs: 1_000, lookMs: 100 }

function looks(work: ReturnType<typeof createCurrentWork>) {
  const look = createStuckWorkDetector(work, times)
  let nowMs = 0
  return (ms: number) => {
    let stuck: ReturnType<typeof look>
    for (const endMs = nowMs + ms; nowMs < endMs; ) {
      nowMs += times.lookMs
      stuck = look(nowMs)
    }
    return stuck
  }
}

test('reports a task that runs too long as stuck with its screen', () => {
  const work = createCurrentWork()
  const lookFor = looks(work)
  work.begin(7, 'drawing')
  expect(lookFor(1_000)).toBeUndefined()
  expect(lookFor(100)).toEqual({ screen: 7, kind: 'drawing' })
})

test('does not report many short tasks or an idle worker as stuck', () => {
  const work = createCurrentWork()
  const lookFor = looks(work)
  for (let turn = 0; turn < 50; turn++) {
    work.begin(7, 'asked')
    expect(lookFor(300)).toBeUndefined()
    work.end()
  }
  expect(lookFor(5_000)).toBeUndefined()
})

test('does not report a worker as stuck after the computer was suspended', () => {
  const work = createCurrentWork()
  const look = createStuckWorkDetector(work, times)
  work.begin(7, 'drawing')
  expect([look(100), look(5_000), look(5_100), look(6_000)]).toEqual([undefined, undefined, undefined, undefined])
})
