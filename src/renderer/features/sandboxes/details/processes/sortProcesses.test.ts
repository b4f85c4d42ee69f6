import { expect, test } from 'vitest'
import type { SandboxProcess } from '#shared/contract/processes.ts'
import { orderAfter, sortProcesses } from './sortProcesses.ts'

const process = (pid: number, cpu_percent: number, command: string) =>
  ({ pid, ppid: 1, user: 'root', cpu_percent, memory_mb: pid, command }) as SandboxProcess
const processes = [process(3, 0, 'node'), process(1, 0, 'init'), process(2, 50, 'make')]
const pids = (order: Parameters<typeof sortProcesses>[1]) => sortProcesses(processes, order).map(({ pid }) => pid)

test('sorts the highest usage first and breaks ties by PID', () => {
  expect(pids({ column: 'cpu_percent', descending: true })).toEqual([2, 1, 3])
  expect(pids({ column: 'cpu_percent', descending: false })).toEqual([1, 3, 2])
  expect(pids({ column: 'command', descending: false })).toEqual([1, 2, 3])
  expect(pids({ column: 'command', descending: true })).toEqual([3, 2, 1])
})

test('reverses the order of the same column and uses the default order of another', () => {
  const byCpu = { column: 'cpu_percent', descending: true } as const
  expect(orderAfter(byCpu, 'cpu_percent')).toEqual({ column: 'cpu_percent', descending: false })
  expect(orderAfter(byCpu, 'command')).toEqual({ column: 'command', descending: false })
  expect(orderAfter(byCpu, 'memory_mb')).toEqual({ column: 'memory_mb', descending: true })
})
