import { expect, test } from 'vitest'
import { withDeadline } from './withDeadline.ts'

const late = () => new Error('late')

test('returns a result that arrives in time', async () => {
  expect(await withDeadline({ ms: 60_000, run: async () => 'done', late })).toBe('done')
})

test('aborts on timeout, reports it and hands over a late result', async () => {
  const result = Promise.withResolvers<string>()
  const discarded = Promise.withResolvers<string>()
  let isSettled = false
  const waiting = withDeadline({
    ms: 10,
    run(signal) {
      signal.addEventListener('abort', () => {
        isSettled = true
      })
      return result.promise
    },
    late,
    discard: async (it) => discarded.resolve(it),
  })
  await expect(waiting).rejects.toThrow('late')
  expect(isSettled).toBe(true)
  result.resolve('too late')
  expect(await discarded.promise).toBe('too late')
})

test('aborts with the reason of its signal', async () => {
  const controller = new AbortController()
  const waiting = withDeadline({ ms: 60_000, signal: controller.signal, run: () => new Promise(() => {}), late })
  controller.abort(new Error('deleted'))
  await expect(waiting).rejects.toThrow('deleted')
})

test('propagates an error unchanged', async () => {
  const run = async () => {
    throw new Error('its own')
  }
  await expect(withDeadline({ ms: 60_000, run, late })).rejects.toThrow('its own')
})
