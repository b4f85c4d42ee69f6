import { expect, test } from 'vitest'
import { fuzzHost } from '../fuzz/fuzzHost.ts'

test('no random output blocks a screen of the host', async () => {
  const seed = Math.floor(Math.random() * 2 ** 32)
  const fuzzed = fuzzHost({ seed, ms: 5_000, deadlineMs: 2_000 })
  await expect(fuzzed, `npm run fuzz -- --seed ${seed}`).resolves.toMatchObject({ questions: expect.any(Number) })
})
