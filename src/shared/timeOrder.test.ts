import { expect, test } from 'vitest'
import { sortByTime } from './timeOrder.ts'

const minuteMs = 60_000
const toTime = (minutes: number) => new Date(Date.UTC(2026, 0, 1) + minutes * minuteMs).toISOString()
/** Creates entries with sequences 1, 2, … at these minutes. */
const log = (...minutes: number[]) =>
  minutes.map((minute, index) => ({ sequence: index + 1, at: toTime(minute), problem: null as string | null }))
const sequences = (entries: Iterable<{ sequence: number }>) => [...entries].map(({ sequence }) => sequence)

test('sorts late entries by the time at which they happened', () => {
  const entries = log(5, 6, 1, 2)
  expect(sequences(sortByTime(entries, 'oldest'))).toEqual([3, 4, 1, 2])
  expect(sequences(sortByTime(entries.toReversed(), 'newest'))).toEqual([2, 1, 4, 3])
})

test('keeps log order for equal times, larger gaps and entries with a problem', () => {
  expect(sequences(sortByTime(log(1, 1, 1), 'oldest'))).toEqual([1, 2, 3])
  expect(sequences(sortByTime(log(100, 1, 2), 'oldest'))).toEqual([1, 2, 3])
  const [first, second, third] = log(5, 4, 3)
  const changed = { sequence: 2, at: second?.at ?? '', problem: 'It was changed.' }
  expect(
    sequences(
      sortByTime(
        [first, changed, third].flatMap((it) => it ?? []),
        'oldest',
      ),
    ),
  ).toEqual([1, 2, 3])
})

test('sorts a stream with bounded buffering', () => {
  let read = 0
  function* endless() {
    for (;;) {
      read += 1
      yield { sequence: read, at: toTime(read), problem: null }
    }
  }
  const sorted = sortByTime(endless(), 'oldest')
  for (let count = 0; count < 1_000; count++) sorted.next()
  expect(read).toBeLessThan(1_300)
})
