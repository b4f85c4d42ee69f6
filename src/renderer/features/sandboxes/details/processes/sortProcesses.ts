import type { SandboxProcess } from '#shared/contract/processes.ts'

export type ProcessColumn = 'pid' | 'user' | 'cpu_percent' | 'memory_mb' | 'command'
export type ProcessOrder = { column: ProcessColumn; descending: boolean }

/** Sorts processes. Ties are ordered by process id, so that rows do not jump between updates. */
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

/**
 * Returns the order after a click on a column. Clicking the same column again reverses the order; numeric columns start
 * in descending order.
 */
export function orderAfter(order: ProcessOrder, column: ProcessColumn): ProcessOrder {
  if (order.column === column) return { column, descending: !order.descending }
  return { column, descending: column === 'cpu_percent' || column === 'memory_mb' }
}
