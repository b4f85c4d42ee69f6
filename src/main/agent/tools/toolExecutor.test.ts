import { expect, test } from 'vitest'
import { createPrincipals } from '#platform/access/principals.ts'
import { AppError } from '#shared/appError.ts'
import { findBuiltInTool } from '#shared/contract/tools/toolTable.ts'
import type { SubmitRequest } from '../approvals/approvals.ts'
import { type PrincipalRights, toEndedError } from '../base/agentPrincipals.ts'
import type { ToolCaller } from '../base/toolCaller.ts'
import { createRunningCalls } from './runningCalls.ts'
import { createToolExecutor } from './toolExecutor.ts'

const sandbox = 'a'.repeat(32)
const caller: ToolCaller = {
  requester: { kind: 'tool', id: 'one', name: 'Claude' },
  sandbox,
}
const rights: PrincipalRights = {
  tools: {
    profile: 'all',
    policy: { changes: 'allow', destroys: 'allow' },
    dailyBudgetMicroUsd: null,
    dryRun: false,
    servers: [],
  },
}

/** Returns the approval request that a call from a sandbox submits. */
async function findSubmission(name: string, args: object): Promise<SubmitRequest | undefined> {
  const requests: SubmitRequest[] = []
  const never = (): never => {
    throw new Error('A call beyond its sandbox is done only after it was approved.')
  }
  const { runTool } = createToolExecutor({
    approvals: { cancel: never },
    running: createRunningCalls(createPrincipals({ getRights: () => rights, endedError: toEndedError })),
    mayNow: () => undefined,
    refresh: async () => {},
    limitedApprovals: {
      async submit(request) {
        requests.push(request)
        throw new AppError('intent/denied', 'Denied.')
      },
    },
    pending: { waiting: () => undefined, assertCapacity: () => {} } as never,
    perform: never,
    activity: { recordRefusal: () => {} },
    call: never,
    findTool: findBuiltInTool,
  })
  await runTool(name, args, { caller, signal: AbortSignal.timeout(10_000) })
  return requests[0]
}

const target = async (name: string, args: object) => {
  const intent = (await findSubmission(name, args))?.intent
  return intent?.kind === 'tool.call' ? intent.target : undefined
}

test('a grant covers the exact arguments of a call without a sandbox or domain', async () => {
  const url = 'https://shop.example/a'
  const targets = await Promise.all([
    target('x402_fetch', { url, method: 'POST', body: '1' }),
    target('x402_fetch', { url, method: 'POST', body: '2' }),
    target('x402_fetch', { url, method: 'POST', body: `${'x'.repeat(5000)}1` }),
    target('x402_fetch', { url, method: 'POST', body: `${'x'.repeat(5000)}2` }),
    target('x402_fetch', { url: 'https://shop.example/b' }),
    target('x402_discover', { url }),
  ])
  expect(new Set(targets).size).toBe(targets.length)
  for (const target of targets) expect(target?.length).toBeLessThanOrEqual(255)
})

test('the request describes a call without a sandbox or domain', async () => {
  const request = await findSubmission('x402_discover', { url: 'https://shop.example/a' })
  expect(request?.intent).toMatchObject({
    sentence: `Let a program in the sandbox aaaaaaaa call x402_discover with {"url":"https://shop.example/a"}.`,
  })
})

test('rules do not apply to requests of a program in a sandbox', async () => {
  const request = await findSubmission('sandbox_exec', { sandbox_id: 'b'.repeat(32), command: 'id' })
  expect(request?.requester).toEqual({ ...caller.requester, limited: true })
})
