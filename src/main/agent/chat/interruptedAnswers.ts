import { AnswerUsage } from '../../../shared/contract/chatMessages.ts'
import type { SpendBudgets } from '../budgets/spendBudgets.ts'
import { spendOf } from './answering.ts'
import type { ChatStore } from './chatStore.ts'
import { tokenWeight } from './tokenWeight.ts'

type Parts = {
  store: ChatStore
  budgets: Pick<SpendBudgets, 'settle' | 'unsettled' | 'assumeSpent'>
  now: () => number
}

/**
 * Answers that were being made when Steward ended: what came is kept, and costs what was estimated last. Of a reservation
 * that no message is left for, all counts as spent.
 */
export function endInterruptedAnswers({ store, budgets, now }: Parts): void {
  store.atomically(() => {
    for (const row of store.messages.unfinished()) {
      const { text, reasoning } = store.messages.received(row.number)
      const usage = row.usage === null ? null : AnswerUsage.parse(JSON.parse(row.usage))
      store.messages.finish(row.number, {
        state: 'interrupted',
        text,
        reasoning,
        bytes: Buffer.byteLength(text),
        tokens: Math.ceil(tokenWeight(text)),
        error: null,
        usage,
        finishReason: null,
        atMs: now(),
      })
      if (usage) budgets.settle(row.id, spendOf(usage))
    }
    for (const id of budgets.unsettled()) budgets.assumeSpent(id)
  })
}
