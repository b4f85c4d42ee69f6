import { parseJson } from '#platform/parsing/boundedJson.ts'
import { MessageUsage } from '#shared/contract/chatMessages.ts'
import type { SpendBudgets } from '../budgets/spendBudgets.ts'
import type { ChatStore } from './chatStore.ts'
import { measureOutput } from './runBudget.ts'
import { toSpend } from './runUsage.ts'

type Dependencies = {
  store: ChatStore
  budgets: Pick<SpendBudgets, 'settle' | 'listUnsettled' | 'markSpent'>
  now: () => number
}

/**
 * Ends messages that a crash interrupted. Their text is retained and charged at the last estimate. Reservations without
 * a message count as fully spent.
 */
export function recoverInterruptedRuns({ store, budgets, now }: Dependencies): void {
  store.atomically(() => {
    for (const { id, note, intent_id, result, before } of store.calls.open()) {
      const output =
        'Steward closed before this call ended. It may have partly completed. Check its effect before you repeat it.'
      store.calls.change(id, { state: 'interrupted', note, intent_id, output, result, before, ended_at_ms: now() })
    }
    for (const row of store.messages.listUnfinished()) {
      const { text, reasoning } = store.messages.readOutput(row.number)
      const usage = row.usage === null ? null : MessageUsage.parse(parseJson(row.usage))
      store.messages.finish(row.number, {
        state: 'interrupted',
        text,
        reasoning,
        ...measureOutput(text, store.calls.listCalls([row.number])),
        error: null,
        usage,
        finishReason: null,
        atMs: now(),
      })
      if (usage) budgets.settle(row.id, toSpend(usage))
    }
    for (const id of budgets.listUnsettled()) budgets.markSpent(id)
  })
}
