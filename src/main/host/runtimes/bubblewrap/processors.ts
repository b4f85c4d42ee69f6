/** Assignment of host CPUs to sandboxes, so that a sandbox with one vCPU sees one CPU. */
export type Processors = {
  /** Assigns the least used CPUs, at most all of them. */
  take(count: number): { numbers: readonly number[]; giveBack(): void }
}

/** @param usable numbers of the CPUs that this process may use */
export function createProcessors(usable: readonly number[]): Processors {
  const users = new Map(usable.map((number) => [number, 0]))
  const add = (numbers: readonly number[], change: number): void => {
    for (const number of numbers) users.set(number, (users.get(number) ?? 0) + change)
  }
  return {
    take(count) {
      const leastUsed = [...users].toSorted(([, a], [, b]) => a - b).slice(0, count)
      const numbers = leastUsed.map(([number]) => number).toSorted((a, b) => a - b)
      add(numbers, 1)
      let isReturned = false
      return {
        numbers,
        giveBack() {
          if (!isReturned) add(numbers, -1)
          isReturned = true
        },
      }
    },
  }
}

/** @param status text of /proc/self/status, with a line such as `Cpus_allowed_list: 0-3,8` */
export function parseUsableProcessors(status: string): number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? ''
  return list
    .split(',')
    .filter(Boolean)
    .flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, index) => first + index)
    })
}
