import { AppError } from '#shared/appError.ts'
import type { PaymentId } from '#shared/contract/paymentRecords.ts'
import { createEmitter } from '#shared/emitter.ts'
import { waitFor } from '../base/waitFor.ts'
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
  const changes = createEmitter()
  const closing = new AbortController()

  return {
    async wait(id, { waitMs, signal }) {
      const isDone = () => isFinal(requirePayment(id).record.state)
      if (!closing.signal.aborted && !isDone()) {
        const subscribe = (listener: () => void) => changes.subscribe(() => isDone() && listener())
        await waitFor(subscribe, { waitMs, signals: [signal, closing.signal] })
      }
      if (closing.signal.aborted) throw new AppError('service/unavailable', 'Steward is shutting down.')
      return requirePayment(id)
    },
    update: changes.emit,
    close: () => closing.abort(),
  }
}
