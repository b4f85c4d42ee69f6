import type { CompletionEstimate } from '#shared/contract/chatMoney.ts'
import type { LimitState } from '#shared/contract/chats.ts'
import { formatCost, formatRoughCost, formatTokens } from './amounts.ts'

type Estimate = { estimates: readonly CompletionEstimate[]; min_micro_usd: number; max_micro_usd: number }

/** Number of output tokens in a typical response. */
const typicalOutputTokens = 700

/** Formats an estimate: `about $0.004, at most $0.25 · 1,240 tokens in`. */
export function formatEstimate({ estimates, min_micro_usd: min, max_micro_usd: max }: Estimate): string {
  const input = Math.max(0, ...estimates.map((it) => it.input_tokens))
  const expected = estimates.reduce((sum, it) => {
    const share = it.max_output_tokens === 0 ? 1 : Math.min(1, typicalOutputTokens / it.max_output_tokens)
    return sum + it.min_micro_usd + (it.max_micro_usd - it.min_micro_usd) * share
  }, 0)
  const cost =
    formatCost(min) === formatCost(max)
      ? formatCost(max)
      : `about ${formatRoughCost(expected)}, at most ${formatRoughCost(max)}`
  const clamped = estimates.some((it) => it.clamped) ? ' · shortened by your limits' : ''
  return `${cost} · ${formatTokens(input)} tokens in${clamped}`
}

export type BudgetNotice = { state: 'warning' | 'stopped'; title: string; hint: string }

/** Returns the most severe notice of the limits. */
export function describeBudget(budget: readonly LimitState[]): BudgetNotice | undefined {
  const stopped = budget.find(({ state }) => state === 'stopped')
  const warning = budget.find(({ state }) => state === 'warning')
  const limit = stopped ?? warning
  if (!limit) return undefined
  const isDay = limit.scope === 'day'
  const spent = formatCost(limit.spent_micro_usd)
  if (stopped) {
    const hard = formatCost(limit.hard_micro_usd ?? 0)
    return {
      state: 'stopped',
      title: isDay ? `You’ve reached your limit of ${hard} for today.` : `This chat has reached its limit of ${hard}.`,
      hint: isDay ? 'Raise the limit, or wait until midnight UTC.' : 'Raise the limit to continue.',
    }
  }
  const hard = limit.hard_micro_usd
  return {
    state: 'warning',
    title: isDay ? `${spent} spent on chats today.` : `This chat has cost ${spent}.`,
    hint: hard === null ? 'No hard limit: requests continue.' : `Requests stop at ${formatCost(hard)}.`,
  }
}
