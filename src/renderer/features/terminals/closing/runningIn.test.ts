import { expect, test } from 'vitest'
import type { SandboxProcess } from '#shared/contract/processes.ts'
import type { Terminal } from '#shared/contract/terminals.ts'
import { listRunning } from './runningIn.ts'

const terminal = (command: string, state = 'running') => ({ command, state }) as Terminal // only these fields are read
const process = (pid: number, ppid: number, command: string) => ({ pid, ppid, command }) as SandboxProcess

test('lists programs in shells and standalone programs without duplicates', () => {
  const terminals = [terminal('bash -l'), terminal('bash -l'), terminal('python3 serve.py'), terminal('top', 'exited')]
  const processes = [
    process(1, 0, 'keeper'),
    process(5, 1, 'bash -l'),
    process(6, 5, 'vim notes.md'),
    process(7, 1, 'bash -l'),
    process(8, 7, 'vim notes.md'),
    process(9, 6, 'a child of vim'),
  ]
  expect(listRunning(terminals, processes)).toEqual(['python3 serve.py', 'vim notes.md'])
})

test('omits idle shells', () => {
  expect(listRunning([terminal('bash -l')], [process(5, 1, 'bash -l')])).toEqual([])
})
