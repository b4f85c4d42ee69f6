import type { IntentRecord } from '#shared/contract/intents.ts'
import { isFinal, type MayNow } from '../base/judgement.ts'
import type { IntentJudging } from './intentJudging.ts'
import type { IntentLifecycle } from './intentLifecycle.ts'

export type IntentReview = {
  /** Ends what waits and became impossible, and publishes what is blocked now or no longer. */
  review(): void
  /** Adds why a request that waits cannot be approved now. */
  toWire(record: IntentRecord): IntentRecord
}

type Options = {
  lifecycle: Pick<IntentLifecycle, 'inState' | 'atomically' | 'afterwards'>
  mayNow: MayNow
  refuse: IntentJudging['refuse']
  publish: (record: IntentRecord) => void
}

/** Judges again what waits, so that the inbox shows nothing as approvable that is not. */
export function createIntentReview({ lifecycle, mayNow, refuse, publish }: Options): IntentReview {
  /** Reasons last published, by request. */
  const blocked = new Map<string, string>()

  const toWire = (record: IntentRecord): IntentRecord => {
    const refusal = record.state === 'waiting' ? mayNow({ request: record }) : undefined
    return refusal ? { ...record, blocked_reason: refusal.error.message } : record
  }
  return {
    toWire,
    review: () =>
      lifecycle.atomically(() => {
        const waiting = lifecycle.inState('waiting')
        for (const record of waiting) {
          const refusal = mayNow({ request: record })
          if (refusal && isFinal(refusal)) {
            refuse(record.id, refusal)
            continue
          }
          const reason = refusal?.error.message
          if (blocked.get(record.id) === reason) continue
          if (reason === undefined) blocked.delete(record.id)
          else blocked.set(record.id, reason)
          lifecycle.afterwards(() => publish(toWire(record)))
        }
        const ids = new Set(waiting.map(({ id }) => id))
        for (const id of blocked.keys()) if (!ids.has(id)) blocked.delete(id)
      }),
  }
}
