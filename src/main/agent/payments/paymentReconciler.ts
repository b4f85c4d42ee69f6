import type { Log } from '#platform/logging/log.ts'
import type { PaymentId } from '#shared/contract/paymentRecords.ts'
import type { PaymentRepository } from './paymentRepository.ts'
import type { PaymentSubmitter } from './paymentSubmitter.ts'

/** Advances signed payments that are not final when they are due. Each payment has one step at a time. */
export type PaymentReconciler = {
  /** Resumes payments of an earlier run. */
  start(): void
  /** Advances a payment immediately, even if it is not due. */
  follow(id: PaymentId): Promise<void>
  /** Reschedules the next check after a change. */
  plan(): void
  close(): Promise<void>
}

/** Upper bound for timers, because they do not run while the computer sleeps. */
const maxDelayMs = 60_000

export function createPaymentReconciler(options: {
  payments: Pick<PaymentRepository, 'due' | 'nextAtMs' | 'listUnfinished'>
  sending: PaymentSubmitter
  /** Checks payments that were signed for other programs. */
  periodicWork?: () => Promise<void>
  log: Log
  now: () => number
}): PaymentReconciler {
  const { payments, sending, periodicWork, log, now } = options
  const underWay = new Map<PaymentId, Promise<void>>()
  const ending = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let sweeping: Promise<void> | undefined

  const follow = (id: PaymentId): Promise<void> => {
    const running = underWay.get(id)
    if (running || ending.signal.aborted) return running ?? Promise.resolve()
    const step = sending
      .step(id, ending.signal)
      .catch((error: unknown) => {
        if (!ending.signal.aborted) log.error('failed to follow a payment', { paymentId: id, error })
      })
      .finally(() => {
        underWay.delete(id)
        plan()
      })
    underWay.set(id, step)
    return step
  }
  const sweep = async (): Promise<void> => {
    for (const id of payments.due(now())) void follow(id)
    await periodicWork?.()
  }
  const plan = (): void => {
    clearTimeout(timer)
    if (ending.signal.aborted) return
    const nextMs = payments.nextAtMs()
    const waitMs =
      nextMs === undefined ? maxDelayMs : Math.min(Math.max(nextMs - now(), underWay.size > 0 ? 1_000 : 20), maxDelayMs)
    timer = setTimeout(() => {
      if (sweeping || ending.signal.aborted) return
      sweeping = sweep()
        .catch((error: unknown) => log.error('failed to follow payments', { error }))
        .finally(() => {
          sweeping = undefined
          plan()
        })
    }, waitMs)
    timer.unref()
  }

  return {
    start() {
      for (const id of payments.listUnfinished()) void follow(id)
      plan()
    },
    follow,
    plan,
    async close() {
      ending.abort()
      clearTimeout(timer)
      await Promise.all([...underWay.values(), sweeping])
    },
  }
}
