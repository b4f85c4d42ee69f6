import type { IntentRecord } from '../../../shared/contract/intents.ts'
import { answersKeptMs, oncePerKey, type RepeatableRequest } from '../../platform/oncePerKey.ts'
import type { Approvals, AskRequest } from './approvals.ts'
import type { RepeatRepository } from './repeatRepository.ts'

export type RepeatedAsks = {
  /**
   * Asks once for each key of an asker. A repetition within 24 hours gets the intent as it stands then: who lost the
   * answer wants the signature, not what was known when they asked. The key is kept with the intent or not at all.
   * @throws AppError as `ask` and `oncePerKey`, `intent/not-found` when the intent is no longer kept
   */
  ask(
    request: Omit<AskRequest, 'alongside'>,
    sent: Omit<RepeatableRequest, 'holder'>,
  ): Promise<{ record: IntentRecord; replayed: boolean }>
}

type Options = { approvals: Pick<Approvals, 'ask' | 'get'>; repeats: RepeatRepository; now: () => number }

export function repeatedAsks({ approvals, repeats, now }: Options): RepeatedAsks {
  const requests = oncePerKey<string>((slot) => repeats.find(slot, now()))
  return {
    async ask(request, sent) {
      const { kind, id: askerId } = request.asker
      const { answer: id, replayed } = await requests.once({ ...sent, holder: `${kind} ${askerId}` }, async (slot) => {
        const nowMs = now()
        const alongside = (record: IntentRecord): void =>
          repeats.add(slot, record.id, { nowMs, expiresAtMs: nowMs + answersKeptMs })
        return (await approvals.ask({ ...request, alongside })).id
      })
      return { record: approvals.get(id), replayed }
    },
  }
}
