import { AppError } from '#shared/appError.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { createEmitter } from '#shared/emitter.ts'
import type { Approvals } from './approvals.ts'
import type { IntentLifecycle } from './intentLifecycle.ts'
import { isOpen } from './intentStates.ts'

type Options = {
  lifecycle: Pick<IntentLifecycle, 'subscribe'>
  /** @throws AppError `intent/not-found` */
  get: (id: string) => IntentRecord
}

export function createIntentWaiting({ lifecycle, get }: Options): Pick<Approvals, 'waitUntilSettled' | 'close'> {
  const closing = createEmitter()
  let closed = false

  const waitForChange = (id: string, waitMs: number, signal: AbortSignal | undefined) =>
    new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        leaveLifecycle()
        leaveClosing()
        signal?.removeEventListener('abort', end)
        resolve()
      }
      const leaveLifecycle = lifecycle.subscribe(({ record }) => {
        if (record.id === id && !isOpen(record.state)) end()
      })
      const leaveClosing = closing.subscribe(end)
      const timer = setTimeout(end, waitMs)
      signal?.addEventListener('abort', end)
    })

  return {
    async waitUntilSettled(id, { waitMs, signal }) {
      const { state } = get(id)
      if (isOpen(state) && waitMs > 0 && !closed && !signal?.aborted) await waitForChange(id, waitMs, signal)
      if (closed) throw new AppError('service/unavailable', 'Steward is shutting down.')
      return get(id)
    },
    close() {
      closed = true
      closing.emit()
    },
  }
}
