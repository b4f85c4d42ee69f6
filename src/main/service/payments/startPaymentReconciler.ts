import type { Log } from '#platform/logging/log.ts'
import type { Store } from '#storage/store.ts'
import type { PaymentGate } from './paymentGate.ts'
import { type PaymentRow, paymentRepository } from './paymentRepository.ts'

/** Resumes payments without a request: those of an ended process, with an unknown outcome, or abandoned. */
export type UnfinishedPayments = {
  /** Starts with the payments of the previous process. Call it after all products are registered. */
  start(): Promise<void>
  close(): Promise<void>
}

const everyMs = 5_000
const maxWaitMs = 10 * 60_000
const atOnce = 20

export function startPaymentReconciler(options: {
  paymentGate: PaymentGate
  store: Store
  /** Network of accepted payments. Undefined if payments are not accepted. */
  network: string | undefined
  now: () => number
  log: Log
}): UnfinishedPayments {
  const { store, paymentGate, network, now, log } = options
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let closed = false

  const reconcile = async (row: PaymentRow): Promise<void> => {
    try {
      const waitMs = Math.min(everyMs * 2 ** row.attempts, maxWaitMs)
      await store.write((tx) => paymentRepository.retryAt(tx, row.id, now() + waitMs))
      await paymentGate.reconcile(row)
    } catch (error) {
      log.warn('payment not reconciled yet', { payment: row.id, state: row.state, error })
    }
  }
  const runRound = async (): Promise<void> => {
    const due = await paymentRepository.listDue(store.read, now(), atOnce)
    for (const row of due) if (!closed) await reconcile(row)
  }
  const run = (): void => {
    running = runRound()
      .catch((error: unknown) => log.error('failed to reconcile payments', { error }))
      .then(() => {
        if (!closed) timer = setTimeout(run, everyMs).unref()
      })
  }

  return {
    async start() {
      await store.write(async (tx) => {
        await paymentRepository.removeUnverified(tx)
        if (network !== undefined) await paymentRepository.releaseResources(tx, network)
        await paymentRepository.makeDue(tx)
      })
      run()
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await running
    },
  }
}
