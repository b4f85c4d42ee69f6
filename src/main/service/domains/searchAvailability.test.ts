import { expect, test } from 'vitest'
import type { Availability } from './registrars/registrar.ts'
import { createSearchAvailability } from './searchAvailability.ts'

function openSearch() {
  let atMs = 0
  const calls: (readonly string[])[] = []
  let running = 0
  let maxRunning = 0
  const registrar = {
    async check(names: readonly string[]): Promise<readonly Availability[]> {
      calls.push(names)
      maxRunning = Math.max(maxRunning, ++running)
      await Promise.resolve()
      running -= 1
      return names.map((name) => ({ name, status: 'available', premium: false, price: null }))
    },
  }
  const { check } = createSearchAvailability({ registrar, now: () => atMs })
  return { check, calls, later: (ms: number) => (atMs += ms), maxRunning: () => maxRunning }
}
const names = (start: number, count = 200) => Array.from({ length: count }, (_, offset) => `n${start}x${offset}.com`)

test('does not look up a name again for five minutes', async () => {
  const { check, calls, later } = openSearch()
  for (let times = 0; times < 20; times += 1) expect(await check(names(1))).toHaveLength(200)
  expect(calls.map(({ length }) => length)).toEqual([100, 100])
  later(5 * 60_000)
  await check(names(1, 1))
  expect(calls).toHaveLength(3)
})

test('concurrent searches make one call at a time within their rate limit', async () => {
  const { check, calls, maxRunning, later } = openSearch()
  const all = await Promise.allSettled(Array.from({ length: 40 }, (_, index) => check(names(index))))
  expect([calls.length, maxRunning()]).toEqual([20, 1])
  const refused = all.flatMap((promiseSettledResult) =>
    promiseSettledResult.status === 'rejected' ? [promiseSettledResult.reason] : [],
  )
  expect(refused).toHaveLength(30)
  expect(refused[0]).toMatchObject({ code: 'request/rate', retryAfterSeconds: 4 })
  later(4_000)
  expect(await check(names(50, 100))).toHaveLength(100)
})
