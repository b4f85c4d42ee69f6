import { AppError } from '#shared/appError.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { waitFor } from '../base/waitFor.ts'
import type { Approvals } from './approvals.ts'
import type { IntentLifecycle } from './intentLifecycle.ts'
import { isOpen } from './intentStates.ts'

type Options = {
  lifecycle: Pick<IntentLifecycle, 'subscribe'>
  /** @throws AppError `intent/not-found` */
  get: (id: string) => IntentRecord
}

export function createIntentWaiting({ lifecycle, get }: Options): Pick<Approvals, 'waitUntilSettled' | 'close'> {
  const closing = new AbortController()

  return {
    async waitUntilSettled(id, { waitMs, signal }) {
      if (isOpen(get(id).state)) {
        const subscribe = (listener: () => void) =>
          lifecycle.subscribe(({ record }) => {
            if (record.id === id && !isOpen(record.state)) listener()
          })
        await waitFor(subscribe, { waitMs, signals: [signal, closing.signal] })
      }
      if (closing.signal.aborted) throw new AppError('service/unavailable', 'Steward is shutting down.')
      return get(id)
    },
    close: () => closing.abort(),
  }
}
