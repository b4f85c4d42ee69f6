import { createOncePerKey, responseTtlMs } from '#platform/http/oncePerKey.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import type { LocalCall } from '../base/localEndpoint.ts'
import type { IdempotencyKeyRepository } from './idempotencyKeyRepository.ts'

/** Work for the transaction that stores the intent. */
export type OnStored = (record: IntentRecord) => void

export type IdempotentSubmissions = {
  /**
   * Submits once per `Idempotency-Key` of a requester, or each time without a key. A repeated request within 24 hours
   * returns the current state of the first intent, with the header `Idempotent-Replayed`. The key is stored in the
   * transaction of the intent.
   * @param submit submits and returns the id of the created intent
   * @returns the id of the intent
   * @throws AppError as `ask` and `oncePerKey`
   */
  once(
    call: Pick<LocalCall, 'requester' | 'repeatable' | 'setHeader'>,
    submit: (onStored: OnStored) => Promise<string>,
  ): Promise<string>
}

export function createIdempotentSubmissions({
  repeats,
  now,
}: {
  repeats: IdempotencyKeyRepository
  now: () => number
}): IdempotentSubmissions {
  const requests = createOncePerKey<string>((slot) => repeats.find(slot, now()))
  return {
    async once({ requester, repeatable, setHeader }, submit) {
      if (!repeatable) return submit(() => {})
      const { answer, replayed } = await requests.once(
        { ...repeatable, holder: `${requester.kind} ${requester.id}` },
        (slot) =>
          submit(({ id }) => {
            const nowMs = now()
            repeats.add(slot, id, { nowMs, expiresAtMs: nowMs + responseTtlMs })
          }),
      )
      if (replayed) setHeader('idempotent-replayed', 'true')
      return answer
    },
  }
}
