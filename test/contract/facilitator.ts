import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Facilitator, SignedPayment } from '#service/payments/facilitator.ts'
import { createPayer, lowerCase, type Payer } from '../support/clients/payer.ts'

export type FacilitatorWorld = {
  facilitator: Facilitator
  /** `unknown` if an expired payment may be rejected even though it was transferred, and no chain is queried. */
  expiredState?: 'unknown'
  give(address: string, atomic: number): Promise<void>
  balance(address: string): Promise<number>
  close(): Promise<void>
}

const payTo = '0x2222222222222222222222222222222222222222'
const price = 2_000_000

/** Contract of all facilitators, regardless of the payment method. */
export function facilitatorContract(name: string, open: () => Promise<FacilitatorWorld>): void {
  describe(name, () => {
    let world: FacilitatorWorld
    beforeAll(async () => {
      world = await open()
    })
    afterAll(() => world?.close())

    const rich = async (atomic = price): Promise<Payer> => {
      const buyer = createPayer(world.facilitator.network)
      if (atomic > 0) await world.give(buyer.address, atomic)
      return buyer
    }
    const createPayment = async (buyer: Payer, fields: Parameters<Payer['authorize']>[0] | object = {}) => {
      const authorization = lowerCase(await buyer.authorize({ to: payTo, value: String(price), ...fields }))
      return { authorization, createdAtMs: Date.now(), again: false } satisfies SignedPayment
    }

    test('verifies without a transfer and settles the exact amount', async () => {
      const ada = await rich(price + 7)
      const payment = await createPayment(ada)
      const before = await world.balance(payTo)
      expect(await world.facilitator.verify(payment)).toBeUndefined()
      expect(await world.balance(ada.address)).toBe(price + 7)
      const settlement = await world.facilitator.settle(payment)
      expect(settlement).toEqual({ state: 'settled', transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
      expect([await world.balance(ada.address), (await world.balance(payTo)) - before]).toEqual([7, price])
      expect((await world.facilitator.verify(payment))?.reason).toMatch(/nonce|used/)
    })

    test('settles one authorization once across repeated requests', async () => {
      const ada = await rich(3 * price)
      const payment = await createPayment(ada)
      const first = await world.facilitator.settle(payment)
      expect(first.state).toBe('settled')
      for (let times = 0; times < 3; times++) {
        const again = await world.facilitator.settle({ ...payment, again: true })
        expect([first, expect.objectContaining({ state: 'unknown' })]).toContainEqual(again)
      }
      expect(await world.balance(ada.address)).toBe(2 * price)
    })

    test('settles concurrent copies of a payment once', async () => {
      const ada = await rich(5 * price)
      const payment = await createPayment(ada)
      const all = await Promise.all(Array.from({ length: 5 }, () => world.facilitator.settle(payment)))
      const hashes = all.flatMap((settlement) => (settlement.state === 'settled' ? [settlement.transaction] : []))
      expect(new Set(hashes).size).toBe(1)
      expect(await world.balance(ada.address)).toBe(4 * price)
    })

    test('settles each of several concurrent payments', async () => {
      const payers: Payer[] = []
      for (let count = 0; count < 12; count++) payers.push(await rich())
      const before = await world.balance(payTo)
      const all = await Promise.all(payers.map(async (buyer) => world.facilitator.settle(await createPayment(buyer))))
      expect(all.map(({ state }) => state)).toEqual(all.map(() => 'settled'))
      expect((await world.balance(payTo)) - before).toBe(12 * price)
    })

    test('rejects a payment that exceeds the balance of the payer', async () => {
      const payment = await createPayment(await rich(price - 1))
      expect((await world.facilitator.verify(payment))?.reason).toBe('insufficient_funds')
      expect((await world.facilitator.settle(payment)).state).toBe('failed')
    })

    test('never settles a forged or expired authorization', async () => {
      const [ada, eve] = [await rich(), await rich()]
      const forged = await createPayment(eve, { from: ada.address })
      expect((await world.facilitator.settle(forged)).state).toBe('failed')
      const late = await createPayment(ada, { validBefore: String(Math.floor(Date.now() / 1000) - 60) })
      expect((await world.facilitator.settle(late)).state).toBe(world.expiredState ?? 'failed')
      expect(await world.balance(ada.address)).toBe(price)
    })
  })
}
