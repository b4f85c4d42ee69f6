import type { Reservations, ReservedUse } from '#agent/approvals/reservations.ts'

export type MemoryReservations = Reservations & {
  /** Rolls back if `work` throws. */
  atomically<T>(work: () => T): T
}

/** Creates the simplest possible budget: one total in micro-dollars. */
export function createMemoryReservations(
  limitMicroUsd: bigint,
  effect: 'ask' | 'deny' = 'deny',
  state: { reserved: Map<string, bigint>; spent: bigint } = { reserved: new Map(), spent: 0n },
): MemoryReservations {
  const free = () => limitMicroUsd - state.spent - [...state.reserved.values()].reduce((sum, it) => sum + it, 0n)
  return {
    reserve({ id, amountMicroUsd }: ReservedUse) {
      if (state.reserved.has(id)) throw new Error(`${id} has a reservation already.`)
      const amount = amountMicroUsd ?? 0n
      if (amount > free()) return { effect, detail: 'The payment is above the budget.' }
      state.reserved.set(id, amount)
      return undefined
    },
    commit(id) {
      state.spent += state.reserved.get(id) ?? 0n
      state.reserved.delete(id)
    },
    giveBack: (id) => void state.reserved.delete(id),
    atomically(work) {
      const before = { reserved: new Map(state.reserved), spent: state.spent }
      try {
        return work()
      } catch (error) {
        Object.assign(state, before)
        throw error
      }
    },
  }
}
