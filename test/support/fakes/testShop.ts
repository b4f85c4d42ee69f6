import { expect } from 'vitest'
import { z } from 'zod'
import type { Payment } from '#platform/http/endpoint.ts'
import { silentLog } from '#platform/logging/log.ts'
import type { AnyCall } from '#service/base/endpoint.ts'
import type { Facilitator } from '#service/payments/facilitator.ts'
import { createPaymentBooks } from '#service/payments/paymentBooks.ts'
import { createPaymentGate } from '#service/payments/paymentGate.ts'
import type { Paid } from '#service/payments/sale.ts'
import { startPaymentReconciler } from '#service/payments/startPaymentReconciler.ts'
import { AppError } from '#shared/appError.ts'
import { defineRoute } from '#shared/contract/route.ts'
import { toMicroUsd } from '#shared/microUsd.ts'
import { createPayer, paymentHeader } from '../clients/payer.ts'
import type { testLedger } from '../fixtures/testLedger.ts'

type Ledger = Awaited<ReturnType<typeof testLedger>>

const buyThing = defineRoute({
  operation: 'thingBuy',
  method: 'POST',
  path: '/things',
  summary: 'Buy a thing',
  tag: 'Things',
  body: z.object({ name: z.string() }),
  response: z.object({ thing: z.string() }),
  status: 201,
})
export const payTo = '0x2222222222222222222222222222222222222222'
export const price = 2_000_000
export type Purchase = { name: string }

type Options = {
  work?: (paid: Paid<Purchase>) => void
  wasDone?: () => boolean
  /** Whether each thing can be sold to only one order at a time. */
  isUnique?: boolean
  assertDeliverable?: (purchase: Purchase) => void
}

/** Creates a payment gate on a ledger, as a process does. Several gates on one ledger simulate successive processes. */
export function createTestShop(opened: Ledger, facilitator: Facilitator, options: Options = {}) {
  const { store: ledger, data: store, ada, clock } = opened
  const now = () => clock.nowMs
  const delivered: string[] = []
  const failures: unknown[] = []
  const sold = createPaymentGate({
    books: createPaymentBooks({ store, ledger, now }),
    facilitator,
    payTo,
    baseUrl: () => 'http://127.0.0.1:1',
    onFailure: (error) => failures.push(error),
    now,
  })
  const endpoint = sold.sell<typeof buyThing, Purchase>(
    buyThing,
    { kind: 'open', signIn: false },
    {
      account: () => ada,
      quote: ({ body: { name } }) => ({
        ...{ amount: toMicroUsd(price), description: 'A thing', purchase: { name } },
        ...(options.isUnique && {
          resource: { name: `thing:${name}`, busyError: () => new AppError('domain/busy', `${name} is being bought.`) },
        }),
      }),
      assertDeliverable: (purchase) => options.assertDeliverable?.(purchase),
      fulfil(paid) {
        options.work?.(paid)
        delivered.push(paid.purchase.name)
        return { thing: paid.purchase.name }
      },
      recover: ({ purchase: { name } }) => (options.wasDone?.() ? { thing: name } : undefined),
    },
  )
  const ask = async (headers: Record<string, string>, name = 'a clock') => {
    const responseHeaders: Record<string, string> = {}
    const call = {
      holder: () => undefined,
      setHeader(key: string, value: string) {
        responseHeaders[key] = value
      },
    }
    const body = Buffer.from(JSON.stringify({ name }))
    const input = { params: {}, query: {}, body: { name } }
    const request = { method: 'POST', path: '/things', headers, body }
    // only these fields of the call are needed
    const paid = await endpoint.price?.(input, call as unknown as AnyCall, request)
    return { paid, sent: responseHeaders }
  }
  /** Buys as the request pipeline does. */
  const buy = async (headers: Record<string, string>, name?: string) => {
    const { paid, sent: responseHeaders } = await ask(headers, name)
    if (!paid) throw new Error('It costs nothing.')
    if ('answer' in paid) return { ...paid.answer, headers: responseHeaders }
    return { ...(await waitForWork(paid)), headers: paid.headers }
  }
  const waitForWork = async (paid: Payment) => {
    let answer: { status: number; body: string }
    try {
      const value = await endpoint.handle({ params: {}, query: {}, body: {} }, {} as AnyCall, paid.settlement)
      answer = { status: 201, body: JSON.stringify(value) }
    } catch (error) {
      throw await paid.fail(error)
    }
    await paid.done(answer)
    return answer
  }
  /** Reconciles unfinished payments as a starting process does. */
  const restart = async () => {
    const unfinished = startPaymentReconciler({
      ...{ store, paymentGate: sold, now, log: silentLog },
      network: facilitator.network.id,
    })
    await unfinished.start()
    await unfinished.close()
  }
  const refusal = (headers: Record<string, string>, name?: string): Promise<AppError> =>
    buy(headers, name).then(
      () => expect.fail('It was sold.'),
      (error: unknown) => (error instanceof AppError ? error : Promise.reject(error)),
    )
  return { ask, buy, refusal, restart, things: delivered, failures, reconcile: sold.reconcile }
}

/** Signs a payment of the price. */
export async function signPayment({ clock }: Pick<Ledger, 'clock'>): Promise<Record<string, string>> {
  const buyer = createPayer(undefined, () => clock.nowMs)
  return paymentHeader(2, await buyer.authorize({ to: payTo, value: String(price) }))
}
