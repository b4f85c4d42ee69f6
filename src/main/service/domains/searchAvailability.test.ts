import { expect, test } from 'vitest'
import type { Availability } from './registrars/registrar.ts'
import { createSearchAvailability } from './searchAvailability.ts'

function opened() {
  let atMs = 0
  const calls: (readonly string[])[] = []
  let running = 0
  let mostRunning = 0
  const registrar = {
    async check(names: readonly string[]): Promise<readonly Availability[]> {
      calls.push(names)
      mostRunning = Math.max(mostRunning, ++running)
      await Promise.resolve()
      running -= 1
      return names.map((name) => ({ name, status: 'available', premium: false, price: null }))
    },
  }
  const { check } = createSearchAvailability({ registrar, now: () => atMs })
  return { check, calls, later: (ms: number) => (atMs += ms), mostRunning: () => mostRunning }
}
const names = (at: number, count = 200) => Array.from({ length: count }, (_, one) => `n${at}x${one}.com`)

test('a name that was looked up is not looked up again for five minutes', async () => {
  const { check, calls, later } = opened()
  for (let times = 0; times < 20; times += 1) expect(await check(names(1))).toHaveLength(200)
  expect(calls.map(({ length }) => length)).toEqual([100, 100])
  later(5 * 60_000)
  await check(names(1, 1))
  expect(calls).toHaveLength(3)
})

test('searches of many make one call at a time, and no more than their share', async () => {
  const { check, calls, mostRunning, later } = opened()
  const all = await Promise.allSettled(Array.from({ length: 40 }, (_, at) => check(names(at))))
  expect([calls.length, mostRunning()]).toEqual([20, 1])
  const refused = all.flatMap((it) => (it.status === 'rejected' ? [it.reason] : []))
  expect(refused).toHaveLength(30)
  expect(refused[0]).toMatchObject({ code: 'request/rate', retryAfterSeconds: 4 })
  later(4_000)
  expect(await check(names(50, 100))).toHaveLength(100)
})
