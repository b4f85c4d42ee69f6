import { expect, test } from 'vitest'
import { silentLog } from '#platform/log.ts'
import { eventually } from '#test/support/eventually.ts'
import { createWarmPool, type WarmSandbox, type WarmSandboxKind } from './warmPool.ts'

const small: WarmSandboxKind = { diskGb: 1, network: 'none' }
const large: WarmSandboxKind = { diskGb: 5, network: 'none' }

type TestSpare = WarmSandbox & { kind: WarmSandboxKind; end: () => void }

function workshop(options: { max: number; idleMs?: number }) {
  const alive: TestSpare[] = []
  const spares = createWarmPool<TestSpare>({
    ...options,
    restMs: 1,
    log: silentLog,
    async make(kind) {
      const over = Promise.withResolvers<void>()
      const spare: TestSpare = {
        kind,
        ended: over.promise,
        end: () => over.resolve(),
        async discard() {
          alive.splice(alive.indexOf(spare), 1)
        },
      }
      alive.push(spare)
      return spare
    },
  })
  return { spares, alive }
}

test('the first who asks gets none, and from then on there are as many as were wanted', async () => {
  const { spares, alive } = workshop({ max: 2 })
  expect(spares.take(small)).toBeUndefined()
  await eventually(() => expect(alive).toHaveLength(2))
  expect(spares.take(small)?.kind).toEqual(small)
  await eventually(() => expect(alive).toHaveLength(3)) // the spare that was taken belongs to the caller
  await spares.close()
  expect(alive).toHaveLength(1)
})

test('those of another kind make room for what was asked for last', async () => {
  const { spares, alive } = workshop({ max: 1 })
  spares.take(small)
  await eventually(() => expect(alive.map(({ kind }) => kind)).toEqual([small]))
  expect(spares.take(large)).toBeUndefined()
  await eventually(() => expect(alive.map(({ kind }) => kind)).toEqual([large]))
  await spares.close()
  expect(alive).toEqual([])
})

test('unused ones end by themselves', async () => {
  const { spares, alive } = workshop({ max: 2, idleMs: 200 })
  spares.take(small)
  await eventually(() => expect(alive).toHaveLength(2))
  await eventually(() => expect(alive).toEqual([]))
  expect(spares.take(small)).toBeUndefined()
  await spares.close()
})

test('one that has ended is given to nobody', async () => {
  const { spares, alive } = workshop({ max: 1 })
  spares.take(small)
  await eventually(() => expect(alive).toHaveLength(1))
  alive[0]?.end()
  await eventually(() => expect(alive).toHaveLength(0))
  expect(spares.take(small)).toBeUndefined()
  await spares.close()
})

test('none are made where none are wanted', async () => {
  const { spares, alive } = workshop({ max: 0 })
  spares.take(small)
  await spares.close()
  expect(alive).toEqual([])
})
