import type { Route } from '#shared/contract/route.ts'
import type { Endpoint } from '../base/endpoint.ts'
import { createCheckout } from './checkout.ts'
import type { Facilitator } from './facilitator.ts'
import { type AnySale, createPaidWork } from './paidWork.ts'
import type { PaymentBooks } from './paymentBooks.ts'
import { createPaymentClaims } from './paymentClaims.ts'
import type { PaymentRow } from './paymentRepository.ts'
import { createPaymentSettler } from './paymentSettler.ts'
import type { Paid, Sale } from './sale.ts'
import { toKeyString } from './toBoundRequest.ts'

/** Sells products for USDC by x402. Every payment settles once, and buys one product or becomes credits. */
export type PaymentGate = {
  sell<R extends Route, P>(route: R, access: Endpoint['access'], sale: Sale<R, P>): Endpoint
  /** Lists all paid routes. @throws AppError `payments/unconfigured` */
  listPaidRoutes(): Route[]
  /**
   * Processes a payment without a pending request: settles it if its outcome is unknown, and completes interrupted
   * work.
   * @throws the error that prevents it
   */
  reconcile(payment: PaymentRow): Promise<void>
}

export function createPaymentGate(options: {
  books: PaymentBooks
  /** Facilitator of the service. Undefined if nothing is sold. */
  facilitator: Facilitator | undefined
  payTo: string
  /** Base URL of this service without a trailing slash. */
  baseUrl: () => string
  onFailure: (error: unknown) => void
  now: () => number
  /** Clock for schedules of unfinished payments. Default: `now`. */
  steadyMs?: () => number
}): PaymentGate {
  const { books, facilitator, payTo, baseUrl, onFailure, now, steadyMs = now } = options
  const sales = new Map<string, { route: Route; sale: AnySale }>()
  const claims = createPaymentClaims(books)
  const settler = createPaymentSettler({ books, facilitator, onFailure })
  const work = createPaidWork({ books, settler, findSale: (operation) => sales.get(operation), onFailure })
  const createPrice = createCheckout({ books, claims, settler, work, payTo, baseUrl, now, steadyMs })

  return {
    sell(route, access, sale) {
      const any = sale as unknown as AnySale // receives only values of this quote and route
      sales.set(route.operation, { route, sale: any })
      return {
        route,
        access,
        price: createPrice(route, any),
        handle: (_input, _call, settlement) => any.fulfil(settlement as Paid<unknown>), // created by `PaidWork`
      }
    },
    listPaidRoutes() {
      settler.assertConfigured()
      return [...sales.values()].filter(({ sale }) => sale.isOffered !== false).map(({ route }) => route)
    },
    async reconcile({ id, payer, nonce, work: before }) {
      const names = [toKeyString({ payer, nonce })]
      if (claims.hasAny(names)) return
      const release = claims.claim(names)
      try {
        // A request may have processed it in the meantime.
        const row = await books.get(id)
        if (row?.state === 'verifying') await books.drop(id)
        else if (row?.state === 'settled' && isCutOff(row, before)) await work.recover(row)
        else if (row?.state === 'settling' || row?.state === 'unknown') {
          await books.recordSettlement(id, await settler.retrySettlement(row), 'waiting')
        }
      } finally {
        release()
      }
    },
  }
}

/** Whether the payment was abandoned: no process is working on it, and no client retried in time. */
function isCutOff({ work }: PaymentRow, before: PaymentRow['work']): boolean {
  return work === 'begun' || (work === 'waiting' && before === 'waiting')
}
