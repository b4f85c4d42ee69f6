import type { TimelineTask } from '#shared/contract/timelineTasks.ts'
import { formatUsd } from '#shared/money/moneyText.ts'

const names = { chat: 'Chat turn', call: 'Program call', action: 'Your action' } as const

export function formatTaskName(task: string): string {
  const [kind = ''] = task.split(':')
  return Object.hasOwn(names, kind) ? names[kind as keyof typeof names] : 'Task'
}

export type TaskSums = Pick<
  TimelineTask,
  'cost_micro_usd' | 'paid_micro_usdc' | 'paid_test_micro_usdc' | 'charged_micro_usd' | 'estimated'
>

/** Formats the cost of a task per currency. The currencies are not summed. */
export function formatCosts(sums: TaskSums): string[] {
  const { cost_micro_usd, paid_micro_usdc, paid_test_micro_usdc, charged_micro_usd, estimated } = sums
  const about = estimated ? 'about ' : ''
  const words = [
    cost_micro_usd > 0 && `Models ${about}${formatUsd(String(cost_micro_usd), 'exact')}`,
    paid_micro_usdc > 0 && `Payments ${formatUsd(String(paid_micro_usdc), 'exact').slice(1)} USDC`,
    paid_test_micro_usdc > 0 && `Payments ${formatUsd(String(paid_test_micro_usdc), 'exact').slice(1)} test USDC`,
    charged_micro_usd > 0 && `Credits ${formatUsd(String(charged_micro_usd), 'exact')}`,
  ].filter((it) => it !== false)
  return words.length > 0 ? words : ['No cost']
}

export function formatEntryCount(count: number): string {
  return count === 1 ? '1 entry' : `${count.toLocaleString('en')} entries`
}
