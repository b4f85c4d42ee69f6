import { expect, test } from 'vitest'
import { createTerminal, readTerminal } from '#shared/contract/terminals.ts'
import type { ToolWork } from '#shared/contract/tools/tool.ts'
import { runSandboxProgram } from './sandboxProgram.ts'

test('a program that never ends is ended, and what it printed is told', async () => {
  const closed: string[] = []
  const answers = new Map<string, object>([
    [createTerminal.operation, { session_id: 'one' }],
    [readTerminal.operation, { output: 'on and on\n', encoding: 'utf8', cursor: 1, state: 'running' }],
  ])
  const call = (async ({ operation }) => {
    closed.push(operation)
    await new Promise(setImmediate)
    return answers.get(operation) ?? {}
  }) as ToolWork['call']
  const running = runSandboxProgram('', 'sandbox', {
    ...{ call, operate: async () => ({}), signal: new AbortController().signal, maxMs: 20 },
  })
  await expect(running).rejects.toThrow(/ran for more than 10 minutes\.\nOutput:\non and on\n/)
  expect(closed.slice(-2)).toEqual(['terminalClose', 'fileRemove'])
})
