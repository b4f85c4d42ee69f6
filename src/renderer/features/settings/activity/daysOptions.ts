import type { SelectOption } from '#renderer/ui/Select.tsx'

const forEver = 'ever'

/** Returns the choices, including a value that was set by other means. */
export function buildRetentionOptions(
  present: number | null,
  offered: readonly number[],
  orForEver?: boolean,
): SelectOption<string>[] {
  const days = present === null || offered.includes(present) ? offered : [...offered, present].toSorted((a, b) => a - b)
  return [
    ...days.map((count) => ({ value: String(count), label: daysText(count) })),
    ...(orForEver ? [{ value: forEver, label: 'For ever' }] : []),
  ]
}

export function formatDaysOption(days: number | null): string {
  return days === null ? forEver : String(days)
}

export function parseDaysOption(option: string): number | null {
  return option === forEver ? null : Number(option)
}

function daysText(days: number): string {
  if (days === 365) return 'For 1 year'
  return days === 1 ? 'For 1 day' : `For ${days} days`
}
