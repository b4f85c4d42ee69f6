import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Reservations, ReservedUse } from '#agent/approvals/reservations.ts'

export type ReservationsUnderTest = {
  reservations: Reservations
  /** Creates a use that fits the limit. All uses consume the same amount. */
  use(id: string): ReservedUse
  atomically<T>(work: () => T): T
  /** Opens new reservations on the same data, as after a restart. */
  again(): Reservations
}

/** Number of uses that fit, in every suite. */
export const capacity = 3

export function reservationsContract(name: string, open: () => ReservationsUnderTest): void {
  describe(`the ${name}`, () => {
    let under: ReservationsUnderTest
    let reservations: Reservations
    const take = (id: string, from = reservations) => under.atomically(() => from.reserve(under.use(id))) === undefined
    const commit = (id: string) => under.atomically(() => reservations.commit(id))
    const giveBack = (id: string, to = reservations) => under.atomically(() => to.giveBack(id))
    /** Counts the further uses that would be admitted. */
    const countFree = (from = reservations): number => {
      const probes = Array.from({ length: capacity + 1 }, (_, index) => `probe ${index}`)
      const reserved = probes.filter((id) => take(id, from))
      for (const id of reserved) giveBack(id, from)
      return reserved.length
    }

    beforeEach(() => {
      under = open()
      reservations = under.reservations
    })

    test('reserves up to the capacity and refuses more with a reason', () => {
      for (const id of ['a', 'b', 'c']) expect(take(id)).toBe(true)
      const refusal = under.atomically(() => reservations.reserve(under.use('d')))
      expect(refusal).toEqual({
        effect: expect.stringMatching(/^(ask|deny)$/),
        detail: expect.stringMatching(/^[A-Z].*\.$/),
      })
      giveBack('d') // no reservation to release
      expect(take('e')).toBe(false)
    })

    test('frees capacity once for a released reservation', () => {
      for (const id of ['a', 'b', 'c']) take(id)
      giveBack('b')
      giveBack('b')
      expect(countFree()).toBe(1)
    })

    test('never frees the capacity of a committed reservation', () => {
      for (const id of ['a', 'b', 'c']) take(id)
      commit('a')
      commit('a')
      giveBack('a')
      expect(countFree()).toBe(0)
      giveBack('b')
      commit('b')
      expect(countFree()).toBe(1)
    })

    test('ignores an id that was never reserved', () => {
      commit('never')
      giveBack('never')
      expect(countFree()).toBe(capacity)
    })

    test('allows one reservation per id at a time', () => {
      take('a')
      expect(() => take('a')).toThrow(Error)
      expect(countFree()).toBe(capacity - 1)
    })

    test('keeps open reservations across a restart', () => {
      for (const id of ['a', 'b', 'c']) take(id)
      commit('a')
      const later = under.again()
      expect(countFree(later)).toBe(0)
      giveBack('b', later)
      expect(countFree(later)).toBe(1)
    })

    test('reserves nothing in a transaction that fails', () => {
      const failAlways = () =>
        under.atomically(() => {
          reservations.reserve(under.use('a'))
          throw new Error('broken')
        })
      expect(failAlways).toThrow('broken')
      expect(countFree()).toBe(capacity)
    })

    test('never exceeds the capacity in any order of operations', () => {
      const step = fc.record({
        what: fc.constantFrom('reserve', 'commit', 'giveBack'),
        id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      })
      fc.assert(
        fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
          under = open()
          reservations = under.reservations
          const active = new Set<string>()
          let committed = 0
          for (const { what, id } of steps) {
            if (what === 'reserve' && !active.has(id) && take(id)) active.add(id)
            if (what === 'commit') {
              commit(id)
              if (active.delete(id)) committed += 1
            }
            if (what === 'giveBack') {
              giveBack(id)
              active.delete(id)
            }
            expect(active.size + committed).toBeLessThanOrEqual(capacity)
          }
          expect(countFree()).toBe(capacity - active.size - committed)
        }),
        { numRuns: 60 },
      )
    })
  })
}
