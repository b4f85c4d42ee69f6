import { expect, test } from 'vitest'
import type { TerminalRecord } from '#shared/contract/hostIpc.ts'
import { SandboxId, TerminalId } from '#shared/ids.ts'
import type { Activity } from '../activity/activityLog.ts'
import type { HostCall } from '../host/hostCalls.ts'
import { createTerminalActivity } from './terminalActivity.ts'

const sandboxId = SandboxId.parse('a'.repeat(32))
const terminal: TerminalRecord = {
  id: TerminalId.parse(`pty_${'1'.repeat(24)}`),
  sandboxId,
  command: 'echo word-of-a-terminal',
  cols: 80,
  rows: 24,
  state: 'running',
  createdAtMs: 5,
  name: null,
  process: null,
  title: 'word-of-a-title',
  exitCode: null,
  signal: null,
  exitedAtMs: null,
  endedWithMachine: false,
}
const exited: TerminalRecord = { ...terminal, state: 'exited', exitCode: 3, exitedAtMs: 9 }

function setting() {
  const entries: Activity[] = []
  return { noted: entries, activity: createTerminalActivity({ note: (_, it) => void entries.push(it) }) }
}

test('records opening and ending with their times and without terminal content', () => {
  const { noted: entries, activity } = setting()
  activity.recordOpened(terminal)
  activity.recordChange(terminal)
  activity.recordChange(exited)
  activity.recordChange({ ...exited, exitCode: null, signal: 'SIGKILL', name: 'logs' })
  expect(entries.map(({ type, atMs, subject }) => [type, atMs, subject])).toEqual([
    ['terminal.opened', 5, terminal.id],
    ['terminal.closed', 9, terminal.id],
    ['terminal.closed', 9, terminal.id],
  ])
  expect(entries.map(({ description }) => description)).toEqual([
    'Opened a terminal.',
    'Terminal 111111 ended with exit code 3.',
    'Terminal “logs” ended by SIGKILL.',
  ])
})

test('records a terminal that ended while the service was down', async () => {
  const { noted: entries, activity } = setting()
  const calls: unknown[] = []
  const call = (async (method: string, params: unknown) => {
    calls.push([method, params])
    return { result: { terminals: [terminal, exited] }, body: Buffer.alloc(0) }
  }) as unknown as HostCall // only this method is called
  await activity.catchUp(call, [sandboxId])
  expect(calls).toEqual([['terminal.list', { sandboxId }]])
  expect(entries).toEqual([expect.objectContaining({ type: 'terminal.closed', subject: terminal.id, atMs: 9 })])
})
