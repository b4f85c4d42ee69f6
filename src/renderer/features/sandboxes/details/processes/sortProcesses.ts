import type { SandboxProcess } from '#shared/contract/processes.ts'

export type ProcessColumn = 'pid' | 'user' | 'cpu_percent' | 'memory_mb' | 'command'
export type ProcessOrder = { column: ProcessColumn; descending: boolean }

/** Processes that are alike stay in the order of their numbers, so that rows do not dance. */
export function sortProcesses(
  processes: readonly SandboxProcess[],
  { column, descending }: ProcessOrder,
): SandboxProcess[] {
  const sign = descending ? -1 : 1
  return processes.toSorted((a, b) => {
    const [first, second] = [a[column], b[column]]
    const difference =
      typeof first === 'number' && typeof second === 'number'
        ? first - second
        : String(first).localeCompare(String(second))
    return difference === 0 ? a.pid - b.pid : sign * difference
  })
}

/** The same column again turns it around; numbers that say how much begin with the most. */
export function orderAfter(order: ProcessOrder, column: ProcessColumn): ProcessOrder {
  if (order.column === column) return { column, descending: !order.descending }
  return { column, descending: column === 'cpu_percent' || column === 'memory_mb' }
}
