import { expect } from 'vitest'
import { z } from 'zod'
import type { Payment } from '#platform/http/endpoint.ts'
import { silentLog } from '#platform/log.ts'
import type { AnyCall } from '#service/base/endpoint.ts'
import type { Facilitator } from '#service/payments/facilitator.ts'
import { paymentBooks } from '#service/payments/paymentBooks.ts'
import { paymentRepository } from '#service/payments/paymentRepository.ts'
import type { Paid } from '#service/payments/sale.ts'
import { till } from '#service/payments/till.ts'
import { unfinishedPayments } from '#service/payments/unfinishedPayments.ts'
import { AppError } from '#shared/appError.ts'
import { defineRoute } from '#shared/contract/route.ts'
import { microUsd } from '#shared/microUsd.ts'
import { payer, paymentHeader } from './payer.ts'
import type { testLedger } from './testLedger.ts'

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
  /** Each thing is sold to one order at a time. */
  isUnique?: boolean
  assertDeliverable?: (purchase: Purchase) => void
}

/** Creates a till on a ledger, as a process has it: several of one ledger are processes after one another. */
export function thingShop(opened: Ledger, facilitator: Facilitator, given: Options = {}) {
  const { database, ledger, commits, ada, clock } = opened
  const now = () => clock.nowMs
  const records = paymentRepository(database)
  const things: string[] = []
  const failures: unknown[] = []
  const sold = till({
    books: paymentBooks({ records, ledger, commits, now }),
    facilitator,
    payTo,
    baseUrl: () => 'http://127.0.0.1:1',
    onFailure: (failure) => failures.push(failure),
    now,
  })
  const endpoint = sold.sell<typeof buyThing, Purchase>(
    buyThing,
    { kind: 'open', signIn: false },
    {
      account: () => ada,
      quote: ({ body: { name } }) => ({
        ...{ amount: microUsd(price), description: 'A thing', purchase: { name } },
        ...(given.isUnique && {
          resource: { name: `thing:${name}`, busyError: () => new AppError('domain/busy', `${name} is being bought.`) },
        }),
      }),
      assertDeliverable: (purchase) => given.assertDeliverable?.(purchase),
      fulfil(paid) {
        given.work?.(paid)
        things.push(paid.purchase.name)
        return { thing: paid.purchase.name }
      },
      recover: ({ purchase: { name } }) => (given.wasDone?.() ? { thing: name } : undefined),
    },
  )
  const ask = async (headers: Record<string, string>, name = 'a clock') => {
    const sent: Record<string, string> = {}
    const call = {
      holder: () => undefined,
      setHeader(key: string, value: string) {
        sent[key] = value
      },
    }
    const body = Buffer.from(JSON.stringify({ name }))
    const input = { params: {}, query: {}, body: { name } }
    const asked = { method: 'POST', path: '/things', headers, body }
    const paid = await endpoint.price?.(input, call as unknown as AnyCall, asked) // of a call it needs no more
    return { paid, sent }
  }
  /** As the pipeline does it. */
  const buy = async (headers: Record<string, string>, name?: string) => {
    const { paid, sent } = await ask(headers, name)
    if (!paid) throw new Error('It costs nothing.')
    if ('answer' in paid) return { ...paid.answer, headers: sent }
    return { ...(await worked(paid)), headers: paid.headers }
  }
  const worked = async (paid: Payment) => {
    let answer: { status: number; body: string }
    try {
      const value = await endpoint.handle({ params: {}, query: {}, body: {} }, {} as AnyCall, paid.settlement)
      answer = { status: 201, body: JSON.stringify(value) }
    } catch (failure) {
      throw await paid.failed(failure)
    }
    await paid.done(answer)
    return answer
  }
  /** As a process that starts does it. */
  const restart = async () => {
    const unfinished = unfinishedPayments({ records, till: sold, commits, now, log: silentLog })
    await unfinished.start()
    await unfinished.close()
  }
  const refusal = (headers: Record<string, string>, name?: string): Promise<AppError> =>
    buy(headers, name).then(
      () => expect.fail('It was sold.'),
      (failure: unknown) => (failure instanceof AppError ? failure : Promise.reject(failure)),
    )
  return { ask, buy, refusal, restart, things, failures, lookAfter: sold.lookAfter }
}

/** Signs a payment of the price. */
export async function signedPayment({ clock }: Pick<Ledger, 'clock'>): Promise<Record<string, string>> {
  const buyer = payer(undefined, () => clock.nowMs)
  return paymentHeader(2, await buyer.authorize({ to: payTo, value: String(price) }))
}
