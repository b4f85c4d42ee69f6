import type { Reservations, ReservedUse } from '#agent/approvals/reservations.ts'

export type MemoryReservations = Reservations & {
  /** What fails leaves nothing behind. */
  atomically<T>(work: () => T): T
}

/** So many micro-dollars for everything together: the simplest budget there is. */
export function memoryReservations(
  limitMicroUsd: bigint,
  effect: 'ask' | 'deny' = 'deny',
  kept: { reserved: Map<string, bigint>; spent: bigint } = { reserved: new Map(), spent: 0n },
): MemoryReservations {
  const free = () => limitMicroUsd - kept.spent - [...kept.reserved.values()].reduce((sum, it) => sum + it, 0n)
  return {
    reserve({ id, amountMicroUsd }: ReservedUse) {
      if (kept.reserved.has(id)) throw new Error(`${id} has a reservation already.`)
      const amount = amountMicroUsd ?? 0n
      if (amount > free()) return { effect, detail: 'It is above the budget.' }
      kept.reserved.set(id, amount)
      return undefined
    },
    commit(id) {
      kept.spent += kept.reserved.get(id) ?? 0n
      kept.reserved.delete(id)
    },
    giveBack: (id) => void kept.reserved.delete(id),
    atomically(work) {
      const before = { reserved: new Map(kept.reserved), spent: kept.spent }
      try {
        return work()
      } catch (failure) {
        Object.assign(kept, before)
        throw failure
      }
    },
  }
}
