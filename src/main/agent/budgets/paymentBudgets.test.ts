import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { script } from '#test/support/fixtures/approvals.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { projectFolder } from '#test/support/fixtures/testProject.ts'
import { noLimits } from '#test/support/processes/payingAgent.ts'
import type { ReservedUse } from '../approvals/reservations.ts'
import { listLooserLimits } from './budgetChange.ts'
import { createPaymentBudgetRepository } from './paymentBudgetRepository.ts'
import { createPaymentBudgets } from './paymentBudgets.ts'
import { createPaymentReservations } from './paymentReservations.ts'
import { createSpendBudgets } from './spendBudgets.ts'
import { createSpendRepository } from './spendRepository.ts'

/** A well-known toolkit signed $300 to $1,500 under a limit of $150 in these four situations. */
const limit = 150_000_000
const hourMs = 3_600_000
const start = Date.parse('2026-11-22T12:00:00Z')

function openBudgets(file: string, now: () => number, limits: object = { day_micro_usd: limit }) {
  const database = openDatabase(file)
  migrate(database, agentMigrations)
  const records = createPaymentBudgetRepository(database)
  records.setLimits({ ...noLimits, ask_first_payee: false, ...limits })
  const budgets = createPaymentBudgets({ records, now })
  const reservations = createPaymentReservations({
    records,
    budgets,
    findSignature: () => undefined,
    service: 'embedded',
    now,
  })
  const readRemaining = () => budgets.remainingForAll()
  const shared = { remainingForAll: readRemaining, explain: () => 'The limit leaves too little.' }
  return {
    database,
    records,
    budgets,
    reservations,
    chats: createSpendBudgets({ spending: createSpendRepository(database), shared, now }),
  }
}
const use = (id: string, amount: number, over: Partial<ReservedUse> = {}): ReservedUse => ({
  ...{ id, by: 'policy', kind: 'x402.authorize', requester: script, host: 'shop.example' },
  scope: 'eip155:8453:0x2222222222222222222222222222222222222222',
  accountId: 'wal_0123456789abcdef01234567' as ReservedUse['accountId'],
  amountMicroUsd: BigInt(amount),
  ...over,
})

describe('exact limit', () => {
  test('a restart after each payment does not reset the limit', () => {
    const file = join(temporaryFolder('budgets'), 'agent.sqlite')
    let signed = 0
    for (let payment = 0; payment < 40; payment += 1) {
      const { database, reservations } = openBudgets(file, () => start)
      if (!reservations.reserve(use(`int_${payment}`, 10_000_000))) {
        signed += 10_000_000
        if (payment % 3 !== 0) reservations.commit(`int_${payment}`) // otherwise simulates a crash before the commit
      }
      database.close()
    }
    expect(signed).toBe(limit)
  })

  test('replicas on one database file share the limit', async () => {
    const file = join(temporaryFolder('budgets'), 'agent.sqlite')
    openBudgets(file, () => start).database.close()
    const program = join(projectFolder, 'test/support/processes/budgetReplica.ts')
    const replicas = ['a', 'b', 'c', 'd'].map((name) => fork(program, [file, name, String(start)]))
    const signed = await Promise.all(
      replicas.map(async (replica) => {
        const [message] = (await once(replica, 'message')) as [number]
        await once(replica, 'exit')
        return message
      }),
    )
    expect(signed.reduce((sum, it) => sum + it, 0)).toBe(limit)
  })

  test('several connections to one database share the limit between any two steps', () => {
    const file = join(temporaryFolder('budgets'), 'agent.sqlite')
    const parts = Array.from({ length: 5 }, () => openBudgets(file, () => start))
    let signed = 0
    for (let payment = 0; payment < 60; payment += 1) {
      const part = parts[payment % parts.length]
      if (part?.reservations.reserve(use(`int_${payment}`, 7_000_000)) === undefined) signed += 7_000_000
      if (payment % 4 === 0) parts[(payment + 1) % parts.length]?.reservations.commit(`int_${payment}`)
    }
    expect(signed).toBe(147_000_000)
    for (const { database } of parts) database.close()
  })

  test('other networks and credits, renewals and chats share one total', () => {
    const { database, reservations, chats } = openBudgets(':memory:', () => start)
    const createTarget = (scope: string, host: string) => ({ scope, host })
    expect(reservations.reserve(use('a', 60_000_000))).toBeUndefined()
    expect(
      reservations.reserve(use('b', 50_000_000, createTarget('eip155:84532:0x33', 'test.example'))),
    ).toBeUndefined()
    expect(
      reservations.reserve(use('c', 20_000_000, createTarget('eip155:31337:0x44', '127.0.0.1:4000'))),
    ).toBeUndefined()
    const chat = { conversationId: 'conv_a', ownLimits: null }
    const ask = (id: string, amount: number) => ({
      id,
      model: 'm',
      plan: (available: number) => (available >= amount ? amount : undefined),
    })
    chats.reserve(chat, [ask('m1', 15_000_000)])
    expect(() => chats.reserve(chat, [ask('m2', 6_000_000)])).toThrow('Not sent: The limit leaves too little.')
    expect(reservations.reserve(use('d', 5_000_001))).toMatchObject({ effect: 'deny' })
    expect(reservations.reserve(use('e', 5_000_000))).toBeUndefined()
    expect(() => chats.reserve(chat, [ask('m3', 1)])).toThrow(expect.objectContaining({ code: 'budget/exceeded' }))
    database.close()
  })

  test('no 24 hours exceed the limit in any order of events', () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const random = createSeededRandom(seed)
      let nowMs = start
      const { database, reservations, records } = openBudgets(':memory:', () => nowMs)
      const open: { id: string; amount: number; atMs: number; fate: 'used' | 'unused' }[] = []
      const counted: { amount: number; atMs: number }[] = []
      for (let step = 0; step < 80; step += 1) {
        nowMs += Math.floor(random() * 3 * hourMs)
        const amount = 1 + Math.floor(random() * 60_000_000)
        const id = `int_${step}`
        if (reservations.reserve(use(id, amount)) === undefined) {
          if (random() < 0.2) reservations.giveBack(id)
          else {
            reservations.commit(id)
            open.push({ id, amount, atMs: nowMs, fate: random() < 0.3 ? 'unused' : 'used' })
          }
        }
        if (random() < 0.4 && open.length > 0) {
          const [ended] = open.splice(Math.floor(random() * open.length), 1)
          if (!ended) continue
          records.settle(ended.id, ended.fate === 'used' ? 'spent' : 'void')
          if (ended.fate === 'used') counted.push(ended)
        }
        const all = [...counted, ...open].filter(({ atMs }) => atMs > nowMs - 24 * hourMs)
        const sum = all.reduce((total, it) => total + it.amount, 0)
        expect([seed, step, sum <= limit]).toEqual([seed, step, true])
      }
      database.close()
    }
  })
})

test('a signed payment counts until it is known to be unused', () => {
  let nowMs = start
  const { database, reservations, records, budgets } = openBudgets(':memory:', () => nowMs, { month_micro_usd: limit })
  reservations.reserve(use('a', limit))
  reservations.commit('a')
  nowMs += 48 * hourMs
  expect(reservations.reserve(use('b', 1))).toMatchObject({ effect: 'deny' })
  expect(budgets.states().find(({ scope }) => scope === 'month')).toMatchObject({
    held_micro_usd: limit,
    remaining_micro_usd: 0,
  })
  records.settle('a', 'void')
  expect(reservations.reserve(use('b', 1))).toBeUndefined()
  database.close()
})

test('unreadable limits deny every payment', () => {
  const { database, reservations } = openBudgets(':memory:', () => start)
  database.exec(`UPDATE payment_limits SET limits = '{"day_micro_usd":"lots"}'`)
  expect(reservations.reserve(use('a', 1))).toMatchObject({ effect: 'deny' })
  database.close()
})

test('applies limits per payment and host, payee and first payee', () => {
  const payee = use('', 1).scope ?? ''
  const limits = {
    ...{ payment_micro_usd: 1_000, ask_first_payee: true },
    hosts: [{ host: 'shop.example', month_micro_usd: 1_500 }],
    payees: [{ payee, month_micro_usd: 1_800 }],
  }
  const { database, reservations } = openBudgets(':memory:', () => start, limits)
  expect(reservations.reserve(use('a', 1_001, { by: 'person' }))?.detail).toContain('per payment')
  expect(reservations.reserve(use('a', 1_000))).toMatchObject({ effect: 'ask' })
  expect(reservations.reserve(use('a', 1_000, { by: 'person' }))).toBeUndefined()
  reservations.commit('a')
  expect(reservations.reserve(use('b', 501))?.detail).toContain('this host in this month')
  expect(reservations.reserve(use('c', 801, { host: 'other.example', by: 'person' }))?.detail).toContain('this payee')
  expect(reservations.reserve(use('d', 499))).toBeUndefined()
  expect(reservations.reserve(use('e', 1, { scope: 'eip155:8453:0x99', by: 'person' }))?.detail).toContain(
    'The payee of',
  )
  database.close()
})

test('lists looser limits as lines and omits stricter ones', () => {
  const from = { ...noLimits, day_micro_usd: 5_000_000, hosts: [{ host: 'a.example', month_micro_usd: 1 }] }
  expect(listLooserLimits(from, { ...from, day_micro_usd: 4_000_000, month_micro_usd: 1 })).toEqual([])
  expect(listLooserLimits(noLimits, from)).toEqual([])
  expect(listLooserLimits(from, { ...noLimits, ask_first_payee: false })).toEqual([
    { label: 'Any 24 hours', value: 'no limit, was up to $5.00' },
    { label: 'a.example', value: 'no limit, was up to $0.000001' },
    { label: 'New payees', value: 'are paid without asking you where a rule allows it' },
  ])
})

/** Creates a deterministic random generator (mulberry32). */
function createSeededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
