import { expect, test } from 'vitest'
import { fuzzWindow } from '../fuzz/fuzzWindow.ts'

test('the window stays responsive under random output', async () => {
  const seed = Math.floor(Math.random() * 2 ** 32)
  const fuzzed = fuzzWindow({ seed, ms: 5_000, deadlineMs: 2_000 })
  await expect(fuzzed, `npm run fuzz -- --seed ${seed}`).resolves.toMatchObject({ questions: expect.any(Number) })
})
