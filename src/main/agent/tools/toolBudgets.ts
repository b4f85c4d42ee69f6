import { AppError } from '#shared/appError.ts'
import type { PaymentId } from '#shared/contract/paymentRecords.ts'
import type { Tool, ToolContext, ToolResult } from '#shared/contract/tools/tool.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'

/** Daily spending of each caller of tools, per UTC day, in credits and USDC combined. Reservations count as spent. */
export type ToolBudgets = {
  /**
   * Reserves the maximum cost of a call in credits before it runs. USDC is counted with its payment, in `attach`.
   * @returns the arguments of the call, which may be changed to cost less
   * @throws AppError `tool/budget`
   */
  hold(tool: Tool, args: Arguments, by: Spender & { work: ToolContext }): Promise<ToolReservation>
  /**
   * Reserves the cost of a payment until its outcome is known. Must run in the transaction that creates the payment.
   * @throws AppError `tool/budget`
   */
  attach(payment: { id: PaymentId; amountMicroUsd: number }, by: Spender): void
  /** Settles the reservation of a payment. Must run in the transaction that stores its outcome. */
  settle(payment: PaymentId, settledMicroUsd: number): void
  /** Returns the amount spent and reserved today, in micro-dollars. */
  sumSpentToday(holder: string): number
}
type Arguments = Readonly<Record<string, unknown>>
/** @param limit daily limit in micro-dollars */
type Spender = { holder: string; limit: number | null }
type ToolReservation = { args: Arguments; settle(result: ToolResult): void; release(): void }

type Options = { database: Database; newId: () => string; now: () => number }

export function createToolBudgets({ database, newId, now }: Options): ToolBudgets {
  const sum = database.prepare<[string, string], { total: number }>(
    'SELECT coalesce(sum(amount_micro_usd), 0) AS total FROM tool_spending WHERE holder = ? AND day = ?',
  )
  const add = database.prepare<[string, string, string, number]>('INSERT INTO tool_spending VALUES (?, ?, ?, ?, 1)')
  const settle = database.prepare<[number, string]>(
    'UPDATE tool_spending SET amount_micro_usd = ?, held = 0 WHERE id = ? AND held = 1',
  )
  const remove = database.prepare<[string]>('DELETE FROM tool_spending WHERE id = ? AND held = 1')
  const today = (): string => new Date(now()).toISOString().slice(0, 10)
  const sumSpentToday = (holder: string): number => sum.get(holder, today())?.total ?? 0

  /** Reserves an amount if it does not exceed the remaining budget. */
  const reserve = (id: string, amount: number, { holder, limit }: Spender): void => {
    const remaining = limit === null ? Number.POSITIVE_INFINITY : limit - sumSpentToday(holder)
    if (amount > remaining) throw createOverBudgetError(limit ?? 0, remaining)
    add.run(id, holder, today(), amount)
  }

  return {
    sumSpentToday,
    attach: ({ id, amountMicroUsd }, by) => reserve(id, amountMicroUsd, by),
    settle: (payment, settledMicroUsd) => void settle.run(settledMicroUsd, payment),
    async hold(tool, args, { holder, limit, work }) {
      if (tool.price === 'free' || !tool.cost) return { args, settle: () => {}, release: () => {} }
      const { cost } = tool
      const id = newId()
      const remaining = limit === null ? Number.POSITIVE_INFINITY : Math.max(0, limit - sumSpentToday(holder))
      const upperBound =
        limit === null ? { args, microUsd: 0 } : await cost.estimateMax(args, { work, remainingMicroUsd: remaining })
      if (!upperBound) throw createOverBudgetError(limit ?? 0, remaining)
      database.transaction(() => reserve(id, upperBound.microUsd, { holder, limit })).immediate()
      return {
        args: upperBound.args,
        settle(result) {
          const spentMicroUsd = cost.of(result)
          if (spentMicroUsd !== undefined) settle.run(spentMicroUsd, id)
        },
        release: () => void remove.run(id),
      }
    },
  }
}

/** @param remaining budget of the day, in micro-dollars */
export function createOverBudgetError(limit: number, remaining: number): AppError {
  return new AppError(
    'tool/budget',
    `This would cost more than the ${formatUsd(Math.max(0, remaining), 'cents', 'down')} left of this client's daily budget of ${formatUsd(limit, 'cents')}.`,
  )
}
