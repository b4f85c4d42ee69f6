import type { Log } from '#platform/logging/log.ts'
import type { GroupCommit } from '#storage/sqlite/groupCommit.ts'
import type { PaymentGate } from './paymentGate.ts'
import type { PaymentRepository, PaymentRow } from './paymentRepository.ts'

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
  records: PaymentRepository
  paymentGate: PaymentGate
  commits: Pick<GroupCommit, 'commit'>
  /** Network of accepted payments. Undefined if payments are not accepted. */
  network: string | undefined
  now: () => number
  log: Log
}): UnfinishedPayments {
  const { records, paymentGate, commits, network, now, log } = options
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let closed = false

  const reconcile = async (row: PaymentRow): Promise<void> => {
    try {
      const waitMs = Math.min(everyMs * 2 ** row.attempts, maxWaitMs)
      await commits.commit(() => records.retryAt(row.id, now() + waitMs))
      await paymentGate.reconcile(row)
    } catch (error) {
      log.warn('payment not reconciled yet', { payment: row.id, state: row.state, error })
    }
  }
  const runRound = async (): Promise<void> => {
    for (const row of records.due(now(), atOnce)) if (!closed) await reconcile(row)
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
      await commits.commit(() => {
        records.removeUnverified()
        if (network !== undefined) records.releaseResources(network)
        records.makeDue()
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
