import { expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { createTerminal, readTerminal } from '#shared/contract/terminals.ts'
import type { ToolContext } from '#shared/contract/tools/tool.ts'
import { SandboxId } from '#shared/ids.ts'
import { runSandboxProgram } from './sandboxProgram.ts'

const sandbox = SandboxId.parse('a'.repeat(32))

test('aborts an endless program and reports its output', async () => {
  const closed: string[] = []
  const answers = new Map<string, object>([
    [createTerminal.operation, { session_id: 'one' }],
    [readTerminal.operation, { output: 'on and on\n', encoding: 'utf8', cursor: 1, state: 'running' }],
  ])
  const call = (async ({ operation }) => {
    closed.push(operation)
    await new Promise(setImmediate)
    return answers.get(operation) ?? {}
  }) as ToolContext['call']
  const running = runSandboxProgram('', sandbox, {
    ...{ call, callToEnd: call, operate: async () => ({}), signal: new AbortController().signal, maxMs: 20 },
  })
  await expect(running).rejects.toThrow(/ran for more than 10 minutes\.\nOutput:\non and on\n/)
  expect(closed.slice(-2)).toEqual(['terminalClose', 'fileRemove'])
})

test('a program aborted while its terminal opens leaves no terminal', async () => {
  const ending = new AbortController()
  const operations: string[] = []
  const call = (async ({ operation }) => {
    operations.push(operation)
    return {}
  }) as ToolContext['call']
  const callToEnd = (async ({ operation }) => {
    operations.push(operation)
    ending.abort(new AppError('tool/revoked', 'The tool client was revoked.'))
    return { session_id: 'one' }
  }) as ToolContext['call']
  const running = runSandboxProgram('', sandbox, {
    ...{ call, callToEnd, operate: async () => ({}), signal: ending.signal },
  })
  await expect(running).rejects.toThrow('The tool client was revoked.')
  expect(operations).toEqual(['fileUpload', 'fileUpload', 'terminalCreate', 'terminalClose', 'fileRemove'])
})

test('does not start a program aborted before it began', async () => {
  const operations: string[] = []
  const call = (async ({ operation }) => {
    operations.push(operation)
    return {}
  }) as ToolContext['call']
  const signal = AbortSignal.abort(new AppError('tool/revoked', 'The tool client was revoked.'))
  const running = runSandboxProgram('', sandbox, { ...{ call, callToEnd: call, operate: async () => ({}), signal } })
  await expect(running).rejects.toThrow('The tool client was revoked.')
  expect(operations).toEqual(['fileRemove'])
})
