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

test('a piece of work that goes on and on is stuck, and says whose it is', () => {
  const work = createCurrentWork()
  const lookFor = looks(work)
  work.begin(7, 'drawing')
  expect(lookFor(1_000)).toBeUndefined()
  expect(lookFor(100)).toEqual({ screen: 7, kind: 'drawing' })
})

test('many pieces of one screen are not stuck, nor is a worker with nothing to do', () => {
  const work = createCurrentWork()
  const lookFor = looks(work)
  for (let turn = 0; turn < 50; turn++) {
    work.begin(7, 'asked')
    expect(lookFor(300)).toBeUndefined()
    work.end()
  }
  expect(lookFor(5_000)).toBeUndefined()
})

test('a machine that stood still tells nothing of the worker', () => {
  const work = createCurrentWork()
  const look = createStuckWorkDetector(work, times)
  work.begin(7, 'drawing')
  expect([look(100), look(5_000), look(5_100), look(6_000)]).toEqual([undefined, undefined, undefined, undefined])
})
