import { expect, test } from 'vitest'
import type { LimitState } from '#shared/contract/chats.ts'
import { limitFaults, type SettingsDraft, toConversationChanges, validateDraft } from '../settings/settingsDraft.ts'
import { formatContext, formatCost, formatPrice, formatRoughCost, formatTokens } from './amounts.ts'
import { describeBudget, formatEstimate } from './formatEstimate.ts'

test('formats amounts with a precision that fits their size', () => {
  expect([0, 5, 100, 4_200, 10_000, 123_456, 999_999, 1_000_000, 1_234_560_000, -4_200].map(formatCost)).toEqual([
    '$0.00',
    '<$0.0001',
    '$0.0001',
    '$0.0042',
    '$0.01',
    '$0.1235',
    '$1.00',
    '$1.00',
    '$1,234.56',
    '−$0.0042',
  ])
  expect([0, 999, 12_345, 1_000_000, 1_250_000].map(formatTokens)).toEqual(['0', '999', '12,345', '1M', '1.3M'])
  expect([4_096, 200_000, 1_048_576].map(formatContext)).toEqual(['4K', '200K', '1M'])
  expect([0, 0.05, 0.4, 1.75, 14].map(formatPrice)).toEqual(['free', '$0.05', '$0.40', '$1.75', '$14'])
})

test('shows the hard limit before the soft limit', () => {
  const limit = (more: Partial<LimitState>): LimitState => ({
    scope: 'conversation',
    spent_micro_usd: 900_000,
    reserved_micro_usd: 0,
    soft_micro_usd: 500_000,
    hard_micro_usd: 1_000_000,
    state: 'within',
    ...more,
  })
  expect(describeBudget([limit({})])).toBeUndefined()
  expect(describeBudget([limit({ state: 'warning' }), limit({ scope: 'day', state: 'stopped' })])).toEqual({
    state: 'stopped',
    title: 'You’ve reached your limit of $1.00 for today.',
    hint: 'Raise the limit, or wait until midnight UTC.',
  })
  expect(describeBudget([limit({ state: 'warning' })])?.hint).toBe('Requests stop at $1.00.')
})

test('parses settings as numbers and leaves empty fields to the model', () => {
  const draft: SettingsDraft = {
    systemPrompt: 'Be brief.',
    temperature: '0.7',
    topP: '',
    maxTokens: '1000',
    effort: 'default',
    stop: 'END\n',
    seed: '',
    ownLimits: true,
    limits: { soft: '0.5', hard: '2' },
    tools: { enabled: true, profile: 'all', sandboxId: '', steps: '', turn: '0.25', day: '' },
  }
  expect(validateDraft(draft)).toEqual({})
  expect(toConversationChanges(draft)).toEqual({
    system_prompt: 'Be brief.',
    parameters: { temperature: 0.7, top_p: null, max_tokens: 1000, reasoning_effort: null, stop: ['END'], seed: null },
    limits: { soft_micro_usd: 500_000, hard_micro_usd: 2_000_000 },
    tools: {
      enabled: true,
      profile: 'all',
      sandbox_id: null,
      max_steps: 25,
      max_turn_micro_usd: 250_000,
      max_day_micro_usd: null,
    },
  })
  expect(validateDraft({ ...draft, tools: { ...draft.tools, steps: '101', day: '-1' } })).toEqual({
    steps: 'Use 1 to 100.',
    day: 'Enter dollars.',
  })
  expect(Object.keys(validateDraft({ ...draft, temperature: '3', topP: 'x', maxTokens: '0', seed: '1.5' }))).toEqual([
    'temperature',
    'topP',
    'maxTokens',
    'seed',
  ])
  expect(limitFaults({ soft: '3', hard: '2' }).soft).toBe('Must not be above the hard limit.')
  expect(limitFaults({ soft: '-1', hard: 'a lot' })).toEqual({
    soft: 'Enter dollars, such as 0.50.',
    hard: 'Enter dollars, such as 2.',
  })
})

test('an estimate shows a typical cost and the maximum', () => {
  const estimate = {
    ...{ model: 'm', available: true, context_window: 200_000 },
    input_tokens: 1_240,
    omitted_messages: 0,
    max_output_tokens: 7_000,
    min_micro_usd: 100,
    max_micro_usd: 229_800,
    clamped: false,
  }
  const { min_micro_usd, max_micro_usd } = estimate
  expect(formatEstimate({ estimates: [estimate], min_micro_usd, max_micro_usd })).toBe(
    'about $0.02, at most $0.23 · 1,240 tokens in',
  )
  expect([4_236, 96, 10_400, 0].map(formatRoughCost)).toEqual(['$0.004', '<$0.0001', '$0.01', '$0.00'])
})
