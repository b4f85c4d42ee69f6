import { randomBytes } from 'node:crypto'
import { createIntentRepository } from '../approvals/intentRepository.ts'
import type { Reservations } from '../approvals/reservations.ts'
import { createPaymentBudgetRepository, type PaymentBudgetRepository } from '../budgets/paymentBudgetRepository.ts'
import { createPaymentBudgets, type PaymentBudgets } from '../budgets/paymentBudgets.ts'
import { createPaymentReservations } from '../budgets/paymentReservations.ts'
import { createToolBudgets, type ToolBudgets } from '../tools/toolBudgets.ts'
import type { AgentContext } from './agentContext.ts'

export type BudgetModule = {
  records: PaymentBudgetRepository
  budgets: PaymentBudgets
  reservations: Reservations
  toolBudgets: ToolBudgets
}

export function composeBudgets({
  database,
  clock,
  connectedService: service,
}: Pick<AgentContext, 'database' | 'clock' | 'connectedService'>): BudgetModule {
  const now = clock.steadyMs
  const records = createPaymentBudgetRepository(database)
  const budgets = createPaymentBudgets({ records, now })
  const { find } = createIntentRepository(database)
  const findSignature = (id: string) => find(id)?.record.result
  return {
    ...{ records, budgets, reservations: createPaymentReservations({ records, budgets, findSignature, service, now }) },
    toolBudgets: createToolBudgets({ database, newId: () => randomBytes(12).toString('hex'), now }),
  }
}
