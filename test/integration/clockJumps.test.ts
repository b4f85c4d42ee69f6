import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPaymentBudgetRepository } from '#agent/budgets/paymentBudgetRepository.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { evmWallet } from '../support/clients/wallets.ts'
import { createShiftedTime } from '../support/fakes/shiftedTime.ts'
import { rule } from '../support/fixtures/approvals.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { createPayingAgent, noLimits, type PayingAgent } from '../support/processes/payingAgent.ts'
import type { Json } from '../support/processes/runningService.ts'

/** The real service and local agent, with a wall clock that jumps a year ahead and later back. */
const hourMs = 3_600_000
const dayMs = 24 * hourMs
const yearMs = 365 * dayMs
const time = createShiftedTime()
let paying: PayingAgent

beforeAll(async () => {
  paying = await createPayingAgent({ now: time.now, time: time.source })
  paying.setPolicy([rule({ effect: 'allow' })])
  createPaymentBudgetRepository(paying.agent.database).setLimits({ ...noLimits, ask_first_payee: false })
})
afterAll(() => paying?.close())

async function ahead(work: () => Promise<void>): Promise<void> {
  time.set(yearMs)
  try {
    await work()
  } finally {
    time.set(-yearMs)
  }
}
const service = () => paying.service
const local = async (path: string, options = {}): Promise<Json> => (await paying.agent.send(path, options)).json
const firstSequence = (): number => {
  const database = openDatabase(join(paying.dataFolder, 'agent.sqlite'))
  try {
    return database.prepare<[], { first: number }>('SELECT min(sequence) AS first FROM timeline').get()?.first ?? 0
  } finally {
    database.close()
  }
}

test('deletes no chat and no activity log entry', async () => {
  const { id } = await local('/local/chat/conversations', { method: 'POST', body: {} })
  await paying.agent.send(`/local/chat/conversations/${id}`, { method: 'DELETE' })
  const first = firstSequence()
  await ahead(async () => {
    await paying.agent.send('/local/activity/settings', { method: 'PATCH', body: { keep_entries_days: 30 } })
    await paying.restart() // a start purges chats and waits for work started by the settings
    await paying.restart()
  })
  expect(firstSequence()).toBe(first)
  const restored = await paying.agent.send(`/local/chat/conversations/${id}/restore`, { method: 'POST' })
  expect([restored.status, restored.json.id]).toEqual([200, id])
})

test('renews no domain and requests no approval', async () => {
  const { json } = await paying.post('/local/payments/domains/register', {
    domain: 'jumping.com',
    price_usd: 10.95,
    wait_ms: 20_000,
  })
  expect(json.payment?.state, JSON.stringify(json)).toBe('settled')
  await eventually(async () => {
    const { domains } = await local('/local/domains')
    expect(domains.map((it: Json) => it.domain)).toContain('jumping.com')
  })
  const settings = { enabled: true, days_before: 30, years: 1, max_micro_usd: 20_000_000 }
  await paying.agent.send('/local/domains/jumping.com/renewal', { method: 'PUT', body: settings })
  const expiry = async () => (await local('/v1/domains/jumping.com')).expires_at
  const before = await expiry()
  await ahead(async () => {
    await paying.post('/local/domains/jumping.com/renewal/retry', {})
    const renewal = (await local('/local/domains/renewals')).renewals.find((it: Json) => it.domain === 'jumping.com')
    expect(renewal).toMatchObject({ state: 'planned', problem: null })
  })
  expect(await expiry()).toBe(before)
  expect((await local('/local/payments?search=Renew%20jumping.com')).payments).toEqual([])
})

test('preserves an Idempotency-Key so that credits are sent once', async () => {
  const { accountId, key } = secondAccount(service().dataDir)
  const send = (name: string) =>
    service().send('/v1/credits/grants', {
      body: { to_address: accountId, amount_cents: 5 },
      headers: { 'idempotency-key': name },
    })
  expect((await send('first')).status).toBe(200)
  await ahead(async () => {
    expect((await send('first')).headers['idempotent-replayed']).toBe('true')
    expect((await send('second')).status).toBe(200) // storing a response removes expired ones
  })
  expect((await send('first')).headers['idempotent-replayed']).toBe('true')
  expect((await service().send('/v1/credits/balance', { key })).json.balance_cents).toBe(10)
})

test('does not revive an expired access token when the clock is set back', async () => {
  const { access_token: key } = (await evmWallet(time.now).signIn(service().url)).json
  const me = async () => (await service().send('/v1/auth/me', { key })).status
  expect(await me()).toBe(200)
  time.set(-yearMs)
  try {
    expect(await me()).toBe(200)
    time.pass(2 * hourMs)
    expect(await me()).toBe(401)
  } finally {
    time.set(yearMs)
  }
  expect(await me()).toBe(401)
})

test('records in the activity log that the clock was set', async () => {
  await until('an entry of the jump', async () => {
    time.set(-hourMs)
    await local('/local/intents') // compares the clocks
    time.set(hourMs)
    const { entries } = await local('/local/activity?limit=100&kinds=system.clock')
    return entries.some((entry: Json) => entry.summary.startsWith('The clock was set back by 60 minutes.'))
  })
})
