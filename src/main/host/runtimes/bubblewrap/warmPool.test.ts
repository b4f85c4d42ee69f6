import { expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { eventually } from '#test/support/assertions/eventually.ts'
import { createWarmPool, type WarmSandbox, type WarmSandboxKind } from './warmPool.ts'

const small: WarmSandboxKind = { diskGb: 1, network: 'none' }
const large: WarmSandboxKind = { diskGb: 5, network: 'none' }

type TestSandbox = WarmSandbox & { kind: WarmSandboxKind; end: () => void }

function workshop(options: { max: number; idleMs?: number }) {
  const alive: TestSandbox[] = []
  const pool = createWarmPool<TestSandbox>({
    ...options,
    restMs: 1,
    log: silentLog,
    async make(kind) {
      const over = Promise.withResolvers<void>()
      const sandbox: TestSandbox = {
        kind,
        ended: over.promise,
        end: () => over.resolve(),
        async discard() {
          alive.splice(alive.indexOf(sandbox), 1)
        },
      }
      alive.push(sandbox)
      return sandbox
    },
  })
  return { pool, alive }
}

test('the first request finds an empty pool, which then fills to its size', async () => {
  const { pool, alive } = workshop({ max: 2 })
  expect(pool.take(small)).toBeUndefined()
  await eventually(() => expect(alive).toHaveLength(2))
  expect(pool.take(small)?.kind).toEqual(small)
  await eventually(() => expect(alive).toHaveLength(3)) // the caller owns one of them
  await pool.close()
  expect(alive).toHaveLength(1)
})

test('warm sandboxes of another kind are replaced by the last requested kind', async () => {
  const { pool, alive } = workshop({ max: 1 })
  pool.take(small)
  await eventually(() => expect(alive.map(({ kind }) => kind)).toEqual([small]))
  expect(pool.take(large)).toBeUndefined()
  await eventually(() => expect(alive.map(({ kind }) => kind)).toEqual([large]))
  await pool.close()
  expect(alive).toEqual([])
})

test('unused warm sandboxes expire', async () => {
  const { pool, alive } = workshop({ max: 2, idleMs: 200 })
  pool.take(small)
  await eventually(() => expect(alive).toHaveLength(2))
  await eventually(() => expect(alive).toEqual([]))
  expect(pool.take(small)).toBeUndefined()
  await pool.close()
})

test('does not hand out a warm sandbox that has ended', async () => {
  const { pool, alive } = workshop({ max: 1 })
  pool.take(small)
  await eventually(() => expect(alive).toHaveLength(1))
  alive[0]?.end()
  await eventually(() => expect(alive).toHaveLength(0))
  expect(pool.take(small)).toBeUndefined()
  await pool.close()
})

test('starts no warm sandbox when the pool size is 0', async () => {
  const { pool, alive } = workshop({ max: 0 })
  pool.take(small)
  await pool.close()
  expect(alive).toEqual([])
})
