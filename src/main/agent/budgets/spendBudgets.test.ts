import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { createSpendBudgets, type SpendBudgets, type SpendRequest } from './spendBudgets.ts'
import { createSpendRepository } from './spendRepository.ts'

let file: string
let database: Database
let nowMs: number
let budgets: SpendBudgets

const open = (): void => {
  database = openDatabase(file)
  migrate(database, agentMigrations)
  budgets = createSpendBudgets({ spending: createSpendRepository(database), now: () => nowMs })
}
beforeEach(() => {
  nowMs = Date.parse('2026-11-22T12:00:00Z')
  file = join(temporaryFolder('budgets'), 'agent.sqlite')
  open()
})
afterEach(() => {
  database.close()
})

const chat = { conversationId: 'conv_a', ownLimits: null }
const otherChat = { conversationId: 'conv_b', ownLimits: null }
const limit = (hard: number | null, soft: number | null = null) => ({ hard_micro_usd: hard, soft_micro_usd: soft })
/** Requests `amount` and accepts at least `min`. */
const ask = (id: string, amount: number, min = amount): SpendRequest => ({
  id,
  model: 'm',
  plan: (available) => (available >= amount ? amount : available >= min ? available : undefined),
})
const cost = (costMicroUsd: number) => ({
  costMicroUsd,
  savedMicroUsd: 0,
  inputTokens: 1,
  cachedTokens: 0,
  outputTokens: 1,
  estimated: false,
})
const readUsed = () => {
  const [, day] = budgets.states(chat)
  return (day?.spent_micro_usd ?? 0) + (day?.reserved_micro_usd ?? 0)
}

describe('hard limits', () => {
  test('twenty concurrent sends do not exceed a small limit', () => {
    budgets.change({ day: limit(1_000) })
    const outcomes = Array.from({ length: 20 }, (_, index) => {
      try {
        budgets.reserve(index % 2 ? chat : otherChat, [ask(`m${index}`, 150, 40)])
        return true
      } catch (error) {
        expect(error).toMatchObject({ code: 'budget/exceeded', status: 402 })
        return false
      }
    })
    expect(outcomes.filter(Boolean)).toHaveLength(7) // six full amounts and the remainder
    expect(readUsed()).toBe(1_000)
    for (const id of budgets.listUnsettled()) budgets.settle(id, cost(120))
    expect(readUsed()).toBe(840)
  })

  test('reserves several completions of one message together or not at all', () => {
    budgets.change({ conversation: limit(100) })
    const three = [ask('m1', 60, 50), ask('m2', 60, 50), ask('m3', 60, 50)]
    expect(() => budgets.reserve(chat, three)).toThrow(expect.objectContaining({ code: 'budget/exceeded' }))
    expect(budgets.listUnsettled()).toEqual([])
    budgets.reserve(chat, three.slice(0, 2))
    expect(budgets.states(chat)[0]).toMatchObject({ reserved_micro_usd: 100, state: 'stopped' })
  })

  test('an unused share of one completion is available to the others', () => {
    budgets.change({ conversation: limit(100) })
    budgets.reserve(chat, [ask('dear', 1_000, 10), ask('cheap', 5)])
    expect(budgets.states(chat)[0]?.reserved_micro_usd).toBe(100)
  })

  test('applies and names the tighter of two limits', () => {
    budgets.change({ day: limit(1_000), conversation: limit(10) })
    expect(() => budgets.reserve(chat, [ask('m', 20)])).toThrow(
      "Not sent: this conversation's limit of $0.0001 leaves too little ($0.00 spent).",
    )
    budgets.reserve({ ...chat, ownLimits: limit(2_000_000) }, [ask('m', 600)])
    expect(() => budgets.reserve(otherChat, [ask('n', 500)])).toThrow(
      expect.objectContaining({ code: 'budget/exceeded' }),
    )
    expect(() => budgets.reserve({ ...otherChat, ownLimits: limit(null) }, [ask('n', 500)])).toThrow(
      "Not sent: today's limit of $0.001 leaves too little ($0.00 spent and $0.0006 reserved for running answers).",
    )
  })

  test('rejects a plan that exceeds its offered budget', () => {
    budgets.change({ day: limit(100) })
    const greedy: SpendRequest = { id: 'm', model: 'm', plan: () => 1_000 }
    expect(() => budgets.reserve(chat, [greedy])).toThrow(expect.objectContaining({ code: 'budget/exceeded' }))
  })

  test('a zero limit denies paid completions and allows free ones', () => {
    budgets.change({ day: limit(0) })
    expect(() => budgets.reserve(chat, [ask('m', 1)])).toThrow()
    budgets.reserve(chat, [ask('free', 0)])
    expect(budgets.listUnsettled()).toEqual(['free'])
  })

  test('rejects a second reservation for the same id', () => {
    budgets.reserve(chat, [ask('m', 1)])
    expect(() => budgets.reserve(chat, [ask('m', 1)])).toThrow('UNIQUE')
  })
})

test('a reservation counts as spent across a crash until it is settled once', () => {
  budgets.change({ day: limit(100) })
  budgets.reserve(chat, [ask('m', 80)])
  database.close()
  open()
  expect(budgets.listUnsettled()).toEqual(['m'])
  expect(() => budgets.reserve(chat, [ask('n', 30)])).toThrow()
  expect(budgets.settle('m', cost(5))).toBe(true)
  expect(budgets.settle('m', cost(5))).toBe(false)
  budgets.release('m')
  expect(readUsed()).toBe(5)
})

test('uses UTC days and counts a completion on its request day', () => {
  budgets.change({ day: limit(100) })
  nowMs = Date.parse('2026-11-22T23:59:59.999Z')
  expect(budgets.resetsAtMs()).toBe(Date.parse('2026-11-23T00:00:00Z'))
  budgets.reserve(chat, [ask('m', 90)])
  nowMs += 1
  budgets.reserve(chat, [ask('n', 90)])
  budgets.settle('m', cost(90))
  budgets.settle('n', cost(1))
  const all = { from: undefined, to: undefined, conversationId: undefined }
  expect(budgets.sums('day', all, 10)).toMatchObject([
    { key: '2026-11-23', cost_micro_usd: 1 },
    { key: '2026-11-22', cost_micro_usd: 90, answers: 1 },
  ])
  expect(budgets.total({ ...all, to: '2026-11-22' }).cost_micro_usd).toBe(90)
  expect(budgets.sumSpend('conv_a')).toMatchObject({ cost_micro_usd: 91, answers: 2, estimated: false })
})

test('a soft limit warns without blocking', () => {
  budgets.change({ day: limit(100, 50) })
  expect(budgets.reserve(chat, [ask('m', 49)])).toEqual([])
  expect(budgets.reserve(chat, [ask('n', 1)])).toMatchObject([{ scope: 'day', state: 'warning' }])
  expect(() => budgets.change({ day: limit(100, 101) })).toThrow(expect.objectContaining({ code: 'request/invalid' }))
  expect(budgets.limits().day).toEqual(limit(100, 50))
})
