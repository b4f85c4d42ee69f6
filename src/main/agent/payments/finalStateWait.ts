import { AppError } from '#shared/appError.ts'
import type { PaymentId } from '#shared/contract/paymentRecords.ts'
import type { StoredPayment } from './paymentRepository.ts'
import { isFinal } from './paymentStates.ts'

export type FinalStateWait = {
  /** Resolves when the state is final or the time is up. @throws AppError `service/unavailable` once closed */
  wait(id: PaymentId, options: { waitMs: number; signal: AbortSignal }): Promise<StoredPayment>
  /** Called when any payment changed. */
  update(): void
  close(): void
}

/** @param requirePayment throws AppError `purchase/not-found` */
export function createFinalStateWait(requirePayment: (id: PaymentId) => StoredPayment): FinalStateWait {
  const listeners = new Set<() => void>()
  let closed = false

  const update = (): void => {
    for (const listener of [...listeners]) listener()
  }
  return {
    async wait(id, { waitMs, signal }) {
      const isDone = () => closed || isFinal(requirePayment(id).record.state)
      if (waitMs > 0 && !isDone() && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const end = (): void => {
            clearTimeout(timer)
            listeners.delete(endIfDone)
            signal.removeEventListener('abort', end)
            resolve()
          }
          const endIfDone = () => {
            if (isDone()) end()
          }
          const timer = setTimeout(end, waitMs)
          signal.addEventListener('abort', end)
          listeners.add(endIfDone)
        })
      }
      if (closed) throw new AppError('service/unavailable', 'Steward is shutting down.')
      return requirePayment(id)
    },
    update,
    close() {
      closed = true
      update()
    },
  }
}
