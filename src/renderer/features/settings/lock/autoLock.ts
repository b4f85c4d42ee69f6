import type { SelectOption } from '#renderer/ui/Select.tsx'

const offered = [1, 5, 15, 60, 240]
const never = 'never'

/** Returns the choices, including a current value that is not a preset. */
export function buildAutoLockOptions(present: number | null): SelectOption<string>[] {
  const minutes =
    present === null || offered.includes(present) ? offered : [...offered, present].toSorted(compareNumbers)
  return [
    ...minutes.map((count) => ({ value: String(count), label: describeDelay(count) })),
    { value: never, label: 'Never', detail: 'Until you lock it or quit Steward.' },
  ]
}

export function formatMinutesOption(minutes: number | null): string {
  return minutes === null ? never : String(minutes)
}

export function parseMinutesOption(option: string): number | null {
  return option === never ? null : Number(option)
}

function describeDelay(minutes: number): string {
  if (minutes % 60 === 0) return minutes === 60 ? 'After 1 hour' : `After ${minutes / 60} hours`
  return minutes === 1 ? 'After 1 minute' : `After ${minutes} minutes`
}

function compareNumbers(a: number, b: number): number {
  return a - b
}
