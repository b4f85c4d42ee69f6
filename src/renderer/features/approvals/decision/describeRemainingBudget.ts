import type { BudgetState } from '#shared/contract/paymentBudgets.ts'
import { formatUsd } from '#shared/money/moneyText.ts'

const periods = { day: 'in any 24 hours', month: 'this month' } as const

/** Describes the remaining daily and monthly budgets. @returns undefined if there are no limits */
export function describeRemainingBudget(
  states: readonly Pick<BudgetState, 'scope' | 'remaining_micro_usd'>[],
): string | undefined {
  const parts = states.flatMap(({ scope, remaining_micro_usd: left }) =>
    left !== null && (scope === 'day' || scope === 'month') ? [`${formatUsd(left, 'exact')} ${periods[scope]}`] : [],
  )
  return parts.length === 0 ? undefined : `Remaining before this payment: ${parts.join(' · ')}`
}
