import { expect, test } from 'vitest'
import type { ToolContext, ToolResult } from '#shared/contract/tools/tool.ts'
import { findBuiltInTool } from '#shared/contract/tools/toolTable.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createToolBudgets } from './toolBudgets.ts'

const holder = 'tool mcp_1'
const chat = findBuiltInTool('chat_completions')
const args = { model: 'cheap', messages: [{ role: 'user', content: 'Hello' }], temperature: 1 }

function openBudgets() {
  const database = openDatabase(':memory:')
  migrate(database, agentMigrations)
  let [nowMs, ids] = [Date.parse('2026-11-23T10:00:00Z'), 0]
  const budgets = createToolBudgets({ database, newId: () => `id${++ids}`, now: () => nowMs })
  // Input and output both cost $1 per million tokens, which is one micro-dollar per token.
  const pricing = { input_per_million: 1, output_per_million: 1, tiers: [] }
  const work = { call: async () => ({ data: [{ id: 'cheap', pricing }] }) } as unknown as ToolContext
  const hold = (limit: number | null, fields: object = {}) => {
    if (!chat) throw new Error('There is no such tool.')
    return budgets.hold(chat, { ...args, ...fields }, { holder, limit, work })
  }
  return { budgets, hold, nextDay: () => (nowMs += 24 * 3600 * 1000) }
}

const cost = (microUsd: number): ToolResult => ({ cost_micro_usd: microUsd })

test('holds the maximum cost of a call and settles the actual cost', async () => {
  const { budgets, hold } = openBudgets()
  const reservation = await hold(10_000, { max_tokens: 100 })
  expect(budgets.sumSpentToday(holder)).toBe(131) // 100 output tokens and at most 31 input tokens
  reservation.settle(cost(40))
  expect(budgets.sumSpentToday(holder)).toBe(40)
  reservation.release()
  expect(budgets.sumSpentToday(holder)).toBe(40)
})

test('shortens a completion to stay within the budget and prevents concurrent overspending', async () => {
  const { budgets, hold } = openBudgets()
  const first = await hold(1000)
  expect(first.args).toMatchObject({ max_tokens: 969 })
  await expect(hold(1000)).rejects.toMatchObject({ code: 'tool/budget' })
  first.settle(cost(900))
  expect((await hold(1000)).args).toMatchObject({ max_tokens: 69 })
  expect(budgets.sumSpentToday(holder)).toBe(1000)
})

test('rejects a call that exceeds the budget or has no price', async () => {
  const { budgets, hold } = openBudgets()
  await expect(hold(100, { max_tokens: 5000 })).rejects.toMatchObject({ code: 'tool/budget', status: 402 })
  await expect(hold(0)).rejects.toMatchObject({ code: 'tool/budget' })
  await expect(hold(100, { model: 'unknown' })).rejects.toMatchObject({ code: 'tool/budget' })
  expect(budgets.sumSpentToday(holder)).toBe(0)
})

test('resets each day and counts spending without a limit', async () => {
  const { budgets, hold, nextDay } = openBudgets()
  ;(await hold(null)).settle(cost(70))
  expect(budgets.sumSpentToday(holder)).toBe(70)
  nextDay()
  expect(budgets.sumSpentToday(holder)).toBe(0)
})
