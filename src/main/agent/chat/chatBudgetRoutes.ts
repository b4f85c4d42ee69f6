import {
  changeChatBudget,
  estimateMessage,
  getChatBudget,
  type SpendRow,
  sumChatSpend,
} from '#shared/contract/chatMoney.ts'
import type { LimitState } from '#shared/contract/chats.ts'
import { toIsoTime } from '#shared/time.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { SpendBudgets } from '../budgets/spendBudgets.ts'
import type { ChatStore } from './chatStore.ts'
import { estimateRequest } from './estimating.ts'
import type { ModelList } from './modelList.ts'

type Options = {
  store: ChatStore
  budgets: SpendBudgets
  models: ModelList
  publish: LocalEvents['publish']
  recordActivity: RecordActivity
}

export function createChatBudgetRoutes({ store, budgets, models, publish, recordActivity }: Options): LocalEndpoint[] {
  const budget = () => {
    const today = budgets.states(undefined)[0] as LimitState // the daily state always exists
    return { ...budgets.limits(), today, resets_at: toIsoTime(budgets.resetsAtMs()) }
  }
  const withLabels = (by: 'day' | 'model' | 'conversation', rows: Omit<SpendRow, 'label'>[]): SpendRow[] => {
    if (by !== 'conversation') return rows.map((row) => ({ ...row, label: row.key }))
    const titles = store.conversations.titles(rows.map(({ key }) => key))
    return rows.map((row) => ({ ...row, label: titles.get(row.key) ?? 'Deleted chat' }))
  }
  return [
    createLocalEndpoint(estimateMessage, ({ body }) => estimateRequest({ store, budgets, models }, body)),
    createLocalEndpoint(getChatBudget, () => budget()),
    createLocalEndpoint(changeChatBudget, ({ body }) => {
      budgets.change(body)
      recordActivity({
        kind: 'chat.budget',
        actor: { kind: 'person', name: 'You' },
        summary: 'You changed the limits of chats.',
      })
      publish({ type: 'chat.spend', conversation_id: null })
      return budget()
    }),
    createLocalEndpoint(sumChatSpend, ({ query: { by, from, to, conversation_id: conversationId, limit } }) => {
      const filter = { from, to, conversationId }
      const rows = budgets.sums(by, filter, limit)
      return { rows: withLabels(by, by === 'day' ? rows.reverse() : rows), total: budgets.total(filter) }
    }),
  ]
}
