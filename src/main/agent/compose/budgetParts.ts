import { randomBytes } from 'node:crypto'
import { intentRepository } from '../approvals/intentRepository.ts'
import type { Reservations } from '../approvals/reservations.ts'
import { type PaymentBudgetRepository, paymentBudgetRepository } from '../budgets/paymentBudgetRepository.ts'
import { type PaymentBudgets, paymentBudgets } from '../budgets/paymentBudgets.ts'
import { paymentReservations } from '../budgets/paymentReservations.ts'
import { type ToolBudgets, toolBudgets } from '../tools/toolBudgets.ts'
import type { AgentGround } from './agentGround.ts'

export type BudgetParts = {
  records: PaymentBudgetRepository
  budgets: PaymentBudgets
  reservations: Reservations
  toolBudgets: ToolBudgets
}

/** One set of limits for everything that is paid. */
export function budgetParts({ database, clock }: Pick<AgentGround, 'database' | 'clock'>): BudgetParts {
  const now = clock.steadyMs
  const records = paymentBudgetRepository(database)
  const budgets = paymentBudgets({ records, now })
  const { find } = intentRepository(database)
  const signed = (id: string) => find(id)?.record.result
  return {
    ...{ records, budgets, reservations: paymentReservations({ records, budgets, signed, now }) },
    toolBudgets: toolBudgets({ database, newId: () => randomBytes(12).toString('hex'), now }),
  }
}
