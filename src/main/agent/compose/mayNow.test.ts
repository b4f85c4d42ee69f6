import { describe, expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { type IntentRecord, noAccount } from '#shared/contract/intents.ts'
import { findBuiltInTool } from '#shared/contract/tools/toolTable.ts'
import { toIsoTime } from '#shared/time.ts'
import { person, script } from '#test/support/fixtures/approvals.ts'
import { type EvaluateAction, isFinal, type Refusal } from '../base/evaluateAction.ts'
import type { ToolRights } from '../base/toolRights.ts'
import { createMayNow } from './mayNow.ts'

const nowMs = Date.parse('2027-01-15T08:00:00.000Z')
const sandbox_id = 'a'.repeat(32)
const client = { kind: 'tool', id: 'mcp_1', name: 'Claude' } as const
const rights: ToolRights = {
  profile: 'all',
  policy: { changes: 'allow', destroys: 'ask' },
  dailyBudgetMicroUsd: 5_000_000,
  dryRun: false,
  servers: [],
}
const request: IntentRecord = {
  ...{ id: 'int_1', kind: 'tool.call', state: 'waiting', requester: client, reason: null, account_id: noAccount },
  ...{
    address: '',
    sentence: 'Delete it.',
    fields: [],
    raw: '',
    host: null,
    scope: null,
    amount_micro_usd: null,
    purchase: null,
  },
  ...{ needs_confirmation: false, created_at: toIsoTime(nowMs), expires_at: toIsoTime(nowMs + 60_000) },
  ...{ decision: null, result: null, error: null },
}
const payment: IntentRecord = { ...request, kind: 'x402.authorize', amount_micro_usd: '5000000' }
const deletion = {
  caller: { requester: client },
  name: 'sandbox_delete',
  args: { sandbox_id },
  toolOf: () => findBuiltInTool('sandbox_delete'),
}

/** Evaluates with everything allowed except `changed`. */
function evaluate(
  changed: Partial<Parameters<typeof createMayNow>[0]> & { tools?: Partial<ToolRights> | null } = {},
): EvaluateAction {
  const { tools = {}, ...options } = changed
  return createMayNow({
    getRights: () => (tools === null ? {} : { tools: { ...rights, ...tools } }),
    isStopped: () => false,
    verdictOn: () => ({ effect: 'ask' }),
    context: {
      call: ({ kind }) => (kind === 'tool.call' ? deletion : undefined),
      payingTool: () => 'domain_register',
      targets: () => [],
    },
    budgetRefusal: () => undefined,
    limitRefusal: () => undefined,
    isRemoved: () => false,
    now: () => nowMs,
    ...options,
  })
}
const words = (refusal: Refusal | undefined) =>
  refusal && [refusal.by, refusal.error.code, refusal.error.message, isFinal(refusal)]

test('allows an action that no check denies', () => {
  const mayNow = evaluate()
  for (const action of [request, payment, { ...payment, requester: script }, { ...payment, requester: person }]) {
    expect(mayNow({ request: action })).toBeUndefined()
  }
})

describe('a request is rejected by', () => {
  const denied = { effect: 'deny', by: 'policy', detail: 'Denied by your rule.' } as const
  test.each([
    [
      'a requester that ended',
      request,
      { getRights: () => undefined },
      ['requester', 'tool/revoked', 'The tool client was revoked.', true],
    ],
    [
      'an account that is gone',
      payment,
      { getRights: (id: string) => (id.startsWith('wallet:') ? undefined : { tools: rights }) },
      ['requester', 'wallet/account-not-found', 'The wallet account was removed.', true],
    ],
    [
      'its time',
      request,
      { now: () => nowMs + 60_000 },
      ['expiry', 'intent/decided', 'This request has expired.', true],
    ],
    [
      'the stop switch',
      request,
      { verdictOn: () => ({ effect: 'deny', by: 'stop', detail: 'Everything is stopped.' }) as const },
      ['stop', 'intent/stopped', 'Everything is stopped.', true],
    ],
    ['a rule', request, { verdictOn: () => denied }, ['policy', 'intent/denied', 'Denied by your rule.', true]],
    ['tools that are off', request, { tools: null }, ['rights', 'tool/denied', 'Tools are off in this chat.', true]],
    [
      'a policy of the client',
      request,
      { tools: { policy: { changes: 'allow', destroys: 'deny' } } },
      ['rights', 'tool/denied', 'This client is not allowed to call sandbox_delete.', true],
    ],
    [
      'a profile',
      request,
      { tools: { profile: 'domains' } },
      ['rights', 'tool/profile', 'sandbox_delete is not in the profile “domains” of this client.', true],
    ],
    [
      'a profile without payments',
      payment,
      { tools: { profile: 'sandboxes' } },
      ['rights', 'tool/profile', 'domain_register is not in the profile “sandboxes” of this client.', true],
    ],
    [
      'a dry run',
      payment,
      { tools: { dryRun: true } },
      ['rights', 'tool/dry-run', 'Dry run: the call was validated but not run.', true],
    ],
    [
      'a budget, for now',
      payment,
      { budgetRefusal: () => new AppError('tool/budget', 'Too much.') },
      ['budget', 'tool/budget', 'Too much.', false],
    ],
    [
      'a limit of payments, for now',
      payment,
      { limitRefusal: () => 'Above your limit.' },
      ['limits', 'intent/denied', 'Above your limit.', false],
    ],
    [
      'a sandbox that is gone',
      request,
      {
        context: {
          call: () => deletion,
          payingTool: () => undefined,
          targets: () => [{ kind: 'sandbox', id: sandbox_id }] as const,
        },
        isRemoved: () => true,
      },
      ['target', 'sandbox/not-found', 'The sandbox aaaaaaaa no longer exists.', true],
    ],
  ] as const)('%s', (_, record, changed, expected) => {
    expect(words(evaluate(changed as never)({ request: record }))).toEqual(expected)
  })
})

describe('a call', () => {
  const call = (name: string, caller: object = {}, args: object = { sandbox_id }) => {
    const tool = findBuiltInTool(name)
    if (!tool) throw new Error(`There is no tool ${name}.`)
    return { call: { caller: { requester: client, ...caller }, tool, args: { ...args } } }
  }
  test('may read under the stop switch, a dry run and a deny policy', () => {
    const mayNow = evaluate({
      isStopped: () => true,
      tools: { dryRun: true, policy: { changes: 'deny', destroys: 'deny' } },
    })
    expect(mayNow(call('sandbox_get'))).toBeUndefined()
    expect(mayNow(call('sandbox_exec'))?.by).toBe('stop')
  })

  test('from a program requires a profile that may run programs', () => {
    const program = call('sandbox_exec', { isProgram: true })
    expect(evaluate({ tools: { profile: 'code' } })(program)).toBeUndefined()
    expect(evaluate({ tools: { profile: 'code' } })(call('sandbox_exec'))?.error.code).toBe('tool/profile')
    expect(evaluate()(program)?.error.message).toBe('operations_run is not in the profile “all”.')
    expect(evaluate({ tools: { profile: 'code' } })(call('operations_run', { isProgram: true }))?.error.code).toBe(
      'tool/profile',
    )
  })

  test('from a narrowed request has no more rights than its client', () => {
    const narrowed = call('sandbox_exec', { narrowedTo: 'sandboxes' })
    expect(evaluate()(narrowed)).toBeUndefined()
    expect(evaluate({ tools: { profile: 'domains' } })(narrowed)?.error.code).toBe('tool/profile')
    expect(evaluate()(call('sandbox_exec', { narrowedTo: 'read-only' }))?.error.code).toBe('tool/profile')
  })
})
