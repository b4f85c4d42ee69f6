import { expect, test } from 'vitest'
import { Terminal } from '#shared/contract/terminals.ts'
import type { CommandMark } from '#shared/terminalMarks.ts'
import { findProgram, hasRunningProgram, isShell } from './runningProgram.ts'

const terminal = (command: string, state: 'running' | 'exited' = 'running') =>
  Terminal.parse({
    session_id: `pty_${'1'.repeat(24)}`,
    sandbox_id: '1'.repeat(32),
    command,
    cols: 80,
    rows: 24,
    state,
    created_at: '2026-01-01T00:00:00.000Z',
    name: null,
    title: null,
    process: null,
    exit_code: null,
    signal: null,
    exited_at: null,
    ended_with_sandbox: false,
  })
const createTrail = (command?: string) => ({
  isMarked: () => true,
  running: (): CommandMark | undefined =>
    command === undefined
      ? undefined
      : { id: 1, line: 0, command, state: 'running', exitCode: null, output: undefined, isVerified: true },
})
const process = (pid: number, ppid: number, command: string) => ({
  pid,
  ppid,
  command,
  user: 'root',
  cpu_percent: 0,
  memory_mb: 1,
  started_at: '2026-01-01T00:00:00.000Z',
})

test.each(['bash', 'bash -l', '/bin/sh', 'zsh -il', ' fish --login '])('%s is an interactive shell', (command) => {
  expect(isShell(command)).toBe(true)
})

test.each(['bash build.sh', 'bash -c "make"', 'python3', 'ssh host', './bash.py'])('%s is a program', (command) => {
  expect(isShell(command)).toBe(false)
})

test('reads the running program from the command marks of a shell', () => {
  const shell = terminal('bash -l')
  expect(findProgram(shell, createTrail())).toBe('none')
  expect(findProgram(shell, createTrail('make -j4'))).toEqual({ terminal: shell, command: 'make -j4' })
  expect(findProgram(shell, { isMarked: () => false, running: () => undefined })).toBe('unknown')
  expect(findProgram(shell, undefined)).toBe('unknown')
})

test('a standalone program runs until it exits', () => {
  const program = terminal('python3 serve.py')
  expect(findProgram(program, undefined)).toEqual({ terminal: program, command: 'python3 serve.py' })
  expect(findProgram(terminal('python3 serve.py', 'exited'), undefined)).toBe('none')
})

test('finds a running program by process when the shell sets no marks', () => {
  const shell = terminal('sh')
  expect(hasRunningProgram(shell, [process(1, 0, 'keeper'), process(5, 1, 'sh'), process(6, 5, 'sleep 60')])).toBe(true)
  expect(hasRunningProgram(shell, [process(1, 0, 'keeper'), process(5, 1, 'sh'), process(6, 1, 'sleep 60')])).toBe(
    false,
  )
})
