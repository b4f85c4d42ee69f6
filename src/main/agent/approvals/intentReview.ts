import type { IntentRecord } from '#shared/contract/intents.ts'
import { type EvaluateAction, isFinal } from '../base/evaluateAction.ts'
import type { IntentEvaluation } from './intentEvaluation.ts'
import type { IntentLifecycle } from './intentLifecycle.ts'

export type IntentReview = {
  /** Ends waiting requests that became impossible, and publishes requests that became blocked or unblocked. */
  review(): void
  /** Adds the reason why a waiting request cannot be approved now. */
  toWire(record: IntentRecord): IntentRecord
}

type Options = {
  lifecycle: Pick<IntentLifecycle, 'inState' | 'atomically' | 'afterwards'>
  mayNow: EvaluateAction
  refuse: IntentEvaluation['refuse']
  publish: (record: IntentRecord) => void
}

/** Evaluates waiting requests again, so that the inbox offers only requests that can be approved. */
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
